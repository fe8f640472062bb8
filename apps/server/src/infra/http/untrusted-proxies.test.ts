import { expect, test } from 'vitest'
import { forwardedClient, unnamedProxyWarning, untrustedProxyOf } from './client-address.ts'

const request = (peer: string, header?: string, ip = peer) => ({
  ip,
  socket: { remoteAddress: peer } as never,
  headers: header === undefined ? {} : { 'x-forwarded-for': header }
})

test.each([
  ['127.0.0.1', '203.0.113.7', '127.0.0.1', '203.0.113.7'],
  ['::ffff:172.17.0.1', '198.51.100.1, 203.0.113.7', '172.17.0.1', '203.0.113.7'],
  ['10.0.0.5', 'made up, 2001:db8::1', '10.0.0.5', '2001:db8::1'],
  ['fd00::5', 'made up', 'fd00::5', null]
])('%s that forwards for %s is an untrusted proxy', (peer, header, proxy, client) => {
  expect(untrustedProxyOf(request(peer, header))).toBe(proxy)
  expect(forwardedClient(request(peer, header))).toBe(client)
})

test.each([
  ['a local client', request('127.0.0.1')],
  ['a client from outside that makes up a header', request('203.0.113.9', '198.51.100.1')],
  ['a proxy that TRUST_PROXY names', request('127.0.0.1', '203.0.113.7', '203.0.113.7')]
])('%s is no untrusted proxy', (_what, asked) => {
  expect(untrustedProxyOf(asked)).toBeNull()
  expect(forwardedClient(asked)).toBeNull()
})

test('a shop with an https address and no named proxy warns at its start', () => {
  const warning = (publicUrl: string, trustProxy: string | false) => unnamedProxyWarning({ publicUrl, trustProxy })
  expect(warning('https://shop.example.com', false)).toContain('Set TRUST_PROXY')
  expect(warning('https://shop.example.com', '172.17.0.1')).toBeNull()
  expect(warning('http://127.0.0.1:3000', false)).toBeNull()
})
