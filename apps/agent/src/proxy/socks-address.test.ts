import { expect, test } from 'vitest'
import { readAddress, writeAddress } from './socks-address.ts'

test.for([
  ['198.51.100.7', 53],
  ['2001:db8:0:0:0:0:0:7', 65_535],
  ['0.0.0.0', 0]
] as const)('%s with port %d is read as written, and only once it is complete', ([host, port]) => {
  const written = Buffer.concat([Buffer.from('...'), writeAddress(host, port)])
  for (let size = 3; size < written.length; size++) expect(readAddress(written.subarray(0, size), 3)).toBe('more')
  const read = readAddress(Buffer.concat([written, Buffer.from('behind')]), 3)
  if (typeof read === 'string') expect(host).toBe('0.0.0.0')
  else
    expect({ ...read, host: writeAddress(read.host, 0) }).toEqual({
      host: writeAddress(host, 0),
      port,
      end: written.length
    })
})

test('valid names are read; invalid names and unknown types are not', () => {
  const named = (name: string): Buffer => Buffer.from([3, name.length, ...Buffer.from(name), 0, 53])
  expect(readAddress(named('WWW.Example.com'), 0)).toEqual({ host: 'www.example.com', port: 53, end: 19 })
  // Chromium sends addresses so.
  expect(readAddress(named('2001:db8::7'), 0)).toEqual({ host: '2001:db8::7', port: 53, end: 15 })
  for (const bad of ['', 'a b', ':1', '::1%lo', '[::1]', '::1]:80', 'www.example.com:80', '127.0.0.1:80'])
    expect(readAddress(named(bad), 0)).toBe('malformed')
  expect(readAddress(Buffer.from([2, 1, 1, 1, 1, 0, 53]), 0)).toBe('type')
})
