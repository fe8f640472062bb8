import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressCount, addressToNumber, numberToAddress, overlaps, parseCidr, prefixesOf } from './ranges.ts'

const read = (text: string) => {
  const parsed = parseCidr(text)
  return parsed.ok ? parsed.cidr : parsed.message
}

describe('parseCidr', () => {
  it('writes a range one way', () => {
    expect(read(' 127.10.0.0/16 ')).toBe('127.10.0.0/16')
    expect(read('192.0.2.7')).toBe('192.0.2.7/32')
    expect(read('2001:DB8:0:0::/48')).toBe('2001:db8::/48')
    expect(addressCount('10.0.0.0/12')).toBe(2 ** 20)
    expect(addressCount('2001:db8::/48')).toBe(65_536)
    expect(addressCount('2001:db8::/64')).toBe(1)
  })

  it('refuses what is no range, and says why', () => {
    expect(read('10.0.0.1/24')).toBe('10.0.0.1/24 has host bits set; the range that holds it is 10.0.0.0/24')
    expect(read('2001:db8::1/64')).toMatch(/host bits set.*2001:db8::\/64/)
    expect(read('10.0.0.0/8')).toMatch(/too large: at most a \/12/)
    expect(read('2001:db8::/32')).toMatch(/too large: at most a \/44/)
    expect(read('2001:db8::/72')).toMatch(/too small/)
    expect(read('2001:db8::1')).toMatch(/too small/)
    for (const text of [
      '',
      '10.0.0',
      '010.0.0.0/8',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/+8',
      'fe80::1%eth0/64'
    ]) {
      expect(parseCidr(text).ok).toBe(false)
    }
  })
})

it('tells whether ranges share an address', () => {
  expect(overlaps('10.0.0.0/24', '10.0.0.128/25')).toBe(true)
  expect(overlaps('10.0.0.128/25', '10.0.0.0/24')).toBe(true)
  expect(overlaps('10.0.0.0/25', '10.0.0.128/25')).toBe(false)
  expect(overlaps('10.0.0.0/24', '2001:db8::/64')).toBe(false)
})

describe('prefixesOf', () => {
  it('joins what touches, and holds exactly the leased addresses', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: 80 }), { minLength: 1 }), blocks => {
        const base = Number(addressToNumber('10.0.0.0'))
        const runs = blocks.map(block => ({ address: numberToAddress(BigInt(base + block * 8), 32), units: 8 }))
        const covered = prefixesOf(runs).flatMap(prefix => {
          const parsed = parseCidr(prefix)
          if (!parsed.ok) throw new Error(parsed.message)
          const start = Number(addressToNumber(parsed.cidr.split('/')[0] ?? ''))
          return Array.from({ length: parsed.units }, (_, nth) => start + nth)
        })
        const expected = blocks.flatMap(block => Array.from({ length: 8 }, (_, nth) => base + block * 8 + nth))
        expect(covered).toEqual(expected.toSorted((a, b) => a - b))
      })
    )
    expect(
      prefixesOf([
        { address: '10.0.0.8', units: 8 },
        { address: '10.0.0.0', units: 8 }
      ])
    ).toEqual(['10.0.0.0/28'])
  })

  it('names one address of each IPv6 /64', () => {
    expect(prefixesOf([{ address: '2001:db8:0:ffff::', units: 2 }])).toEqual([
      '2001:db8:0:ffff::1/128',
      '2001:db8:1::1/128'
    ])
  })
})
