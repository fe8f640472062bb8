import { randomInt } from 'node:crypto'
import ipaddr from 'ipaddr.js'

/** Where there are no more addresses than this, all of them are tried; else one. */
const MOST_SAMPLES = 4

/**
 * Addresses of these ranges to be tried: all where they are few, else one by chance, so that nobody knows which one will be.
 * Of an IPv6 range it is the first one that can be used.
 * @param isLeftOut addresses that are not tried
 */
export function samplesOf(
  prefixes: readonly string[],
  isLeftOut: (address: string) => boolean = () => false
): string[] {
  const ranges = prefixes.flatMap(prefix => {
    const [address, bits] = ipaddr.parseCIDR(prefix)
    return address instanceof ipaddr.IPv4 ? [{ first: numberOf(address), count: 2 ** (32 - bits) }] : []
  })
  const total = ranges.reduce((sum, { count }) => sum + count, 0)
  const nth = (at: number): string => {
    let left = at
    for (const { first, count } of ranges) {
      if (left < count) return textOf(first + left)
      left -= count
    }
    return ''
  }
  const ofIpv6 = prefixes.filter(prefix => prefix.includes(':')).map(firstOf)
  const few = total + ofIpv6.length <= MOST_SAMPLES
  if (few) return [...Array.from({ length: total }, (_, at) => nth(at)), ...ofIpv6].filter(one => !isLeftOut(one))
  // Ranges that are left out are whole ones: some tries find an address beside them, or there is none worth the search.
  for (let tries = 0; tries < 50; tries++) {
    const at = randomInt(total + ofIpv6.length)
    const found = at < total ? nth(at) : (ofIpv6[at - total] ?? '')
    if (!isLeftOut(found)) return [found]
  }
  return []
}

const numberOf = (address: ipaddr.IPv4) => address.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0)
const textOf = (number: number) => [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.')

/** The address of a range that its customers connect to: of IPv6, the `::1`. */
export function firstOf(prefix: string): string {
  const [address, bits] = ipaddr.parseCIDR(prefix)
  const bytes = address.toByteArray()
  if (bits < 128) bytes[15] = (bytes[15] ?? 0) | 1
  return ipaddr.fromByteArray(bytes).toString()
}

/** Lies an address in one of these ranges? Null and what is no address lie in none. */
export function isWithin(text: string | null, prefixes: readonly string[]): boolean {
  if (text === null || !ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return prefixes.some(prefix => {
    const [network, bits] = ipaddr.parseCIDR(prefix)
    return network.kind() === address.kind() && address.match(network, bits)
  })
}

/** Is it from this address that the check site was asked? Of an IPv6 lease from any of its range. */
export const isOwn = (seen: string, address: string, prefixes: readonly string[]): boolean =>
  ipaddr.isValid(seen) &&
  (address.includes(':') ? isWithin(seen, prefixes) : ipaddr.process(seen).toString() === address)
