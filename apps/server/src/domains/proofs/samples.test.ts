import { expect, test } from 'vitest'
import { isOwn, isWithin, sampleAddresses } from './try-credentials.ts'

test('all addresses if they are few, else one of them; of an IPv6 range one that can be used', () => {
  expect(sampleAddresses(['192.0.2.8/31', '192.0.2.20/32'])).toEqual(['192.0.2.8', '192.0.2.9', '192.0.2.20'])
  expect(sampleAddresses(['2001:db8:1::/64'])).toEqual(['2001:db8:1::1'])
  const found = new Set(Array.from({ length: 200 }, () => sampleAddresses(['192.0.2.0/29', '198.51.100.0/30'])).flat())
  expect(found.size).toBe(12)
  for (const address of found) expect(isWithin(address, ['192.0.2.0/29', '198.51.100.0/30'])).toBe(true)
  expect(sampleAddresses([])).toEqual([])
  expect(sampleAddresses(['0.0.0.0/0'])).toHaveLength(1)
})

test('addresses that are left out are not tried', () => {
  const isLeftOut = (address: string) => isWithin(address, ['192.0.2.0/29'])
  expect(sampleAddresses(['192.0.2.0/30'], isLeftOut)).toEqual([])
  expect(sampleAddresses(['192.0.2.0/29'], isLeftOut)).toEqual([])
  expect(sampleAddresses(['192.0.2.8/32', '192.0.2.0/32'], isLeftOut)).toEqual(['192.0.2.8'])
})

test('an address is its own in any notation; of an IPv6 lease any of its range is', () => {
  expect(isOwn('::ffff:192.0.2.8', '192.0.2.8', [])).toBe(true)
  expect(isOwn('192.0.2.9', '192.0.2.8', ['192.0.2.8/30'])).toBe(false)
  expect(isOwn('2001:db8:1::abcd', '2001:db8:1::1', ['2001:db8:1::/64'])).toBe(true)
  expect(isOwn('2001:db8:2::1', '2001:db8:1::1', ['2001:db8:1::/64'])).toBe(false)
  expect(isOwn('<html>', '192.0.2.8', [])).toBe(false)
})
