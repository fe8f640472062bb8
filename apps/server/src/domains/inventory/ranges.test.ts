import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressCount,
  addressToNumber,
  familyOf,
  numberToAddress,
  overlaps,
  parseCidr,
  prefixesOf,
  rangeAt,
  unitNumber,
  wholeUnits
} from './ranges.ts'

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
    expect(addressCount('10.0.0.0/32')).toBe(1)
    expect(addressCount('2001:db8::/44')).toBe(2 ** 20)
    expect(addressCount('somewhere')).toBe(0)
    expect([familyOf('10.0.0.0/32'), familyOf('2001:db8::/64')]).toEqual(['ipv4', 'ipv6'])
  })

  it('refuses anything that is not a range, and says why', () => {
    expect(read('10.0.0.1/24')).toBe('10.0.0.1/24 has host bits set; the range that holds it is 10.0.0.0/24')
    expect(read('2001:db8::1/64')).toMatch(/host bits set.*2001:db8::\/64/)
    expect(read('10.0.0.0/8')).toMatch(/too large: at most a \/12/)
    expect(read('2001:db8::/32')).toMatch(/too large: at most a \/44/)
    expect(read('2001:db8::/72')).toMatch(/too small/)
    expect(read('2001:db8::1')).toMatch(/too small/)
    expect(read(' ')).toBe('An empty line is not an address range, such as 192.0.2.0/24')
    expect(read(' x ')).toBe('x is not an address range, such as 192.0.2.0/24')
    expect(read('10.0.0.0/8/8')).toBe('10.0.0.0/8/8 is not an address range, such as 192.0.2.0/24')
    expect(read('fe80::1%eth0/64')).toBe('fe80::1%eth0/64 is not an address range, such as 192.0.2.0/24')
    expect(read('10.0.0.0/x')).toBe('10.0.0.0/x has no valid length after the slash')
    expect(read('10.0.0.0/33')).toBe('10.0.0.0/33 has no valid length after the slash: at most 32')
    expect(read('2001:db8::/129')).toBe('2001:db8::/129 has no valid length after the slash: at most 128')
    expect(read('2001:db8::/65')).toBe('2001:db8::/65 is too small: an IPv6 range is a /64 or larger')
    expect(read('10.32.0.0/11')).toBe('10.32.0.0/11 is too large: at most a /12; add larger ranges in parts')
    expect(read('2001:db8::/43')).toBe('2001:db8::/43 is too large: at most a /44; add larger ranges in parts')
    for (const text of [
      '',
      '10.0.0.0/08',
      '10.0.0.0/1000',
      '10.0.0.0/8x',
      '10.0.0.0/x16',
      'x10.0.0.0/8',
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

it('says whether ranges share an address', () => {
  expect(overlaps('10.0.0.0/24', '10.0.0.128/25')).toBe(true)
  expect(overlaps('10.0.0.128/25', '10.0.0.0/24')).toBe(true)
  expect(overlaps('10.0.0.0/25', '10.0.0.128/25')).toBe(false)
  expect(overlaps('10.0.0.0/24', '2001:db8::/64')).toBe(false)
  expect(overlaps('2001:db8::/64', '10.0.0.0/24')).toBe(false)
  expect(overlaps('2001:db8::/48', '2001:db8:0:1::/64')).toBe(true)
  expect(overlaps('10.0.0.0/24', '10.0.0.0/24')).toBe(true)
})

it('numbers the units of a range, and names runs of them', () => {
  expect(unitNumber('10.0.0.7') - unitNumber('10.0.0.0')).toBe(7)
  expect(unitNumber('2001:db8:0:7::1') - unitNumber('2001:db8::')).toBe(7)
  expect(unitNumber('255.255.255.255')).toBe(2 ** 32 - 1)
  expect(rangeAt('10.0.0.0', 5, 1)).toBe('10.0.0.5')
  expect(rangeAt('10.0.0.0', 8, 8)).toBe('10.0.0.8/29')
  expect(rangeAt('2001:db8::', 1, 1)).toBe('2001:db8:0:1::/64')
  expect(rangeAt('2001:db8::', 256, 16)).toBe('2001:db8:0:100::/60')
})

it('gives the whole /64 for its leased address', () => {
  expect(wholeUnits(['10.0.0.0/28', '2001:db8:0:ffff::1/128', '2001:db8::/48'])).toEqual([
    '10.0.0.0/28',
    '2001:db8:0:ffff::/64',
    '2001:db8::/48'
  ])
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
    // One within another, a gap, and the end of all addresses.
    expect(
      prefixesOf([
        { address: '10.0.0.0', units: 8 },
        { address: '10.0.0.2', units: 2 },
        { address: '10.0.0.9', units: 1 },
        { address: '255.255.255.254', units: 2 }
      ])
    ).toEqual(['10.0.0.0/29', '10.0.0.9/32', '255.255.255.254/31'])
    expect(prefixesOf([{ address: '0.0.0.0', units: 2 ** 32 }])).toEqual(['0.0.0.0/1', '128.0.0.0/1'])
  })

  it('names one address of each IPv6 /64', () => {
    expect(prefixesOf([{ address: '2001:db8:0:ffff::', units: 2 }])).toEqual([
      '2001:db8:0:ffff::1/128',
      '2001:db8:1::1/128'
    ])
    expect(prefixesOf([{ address: '0:0:0:1::', units: 2 ** 13 }])).toHaveLength(2 ** 13)
  })
})
