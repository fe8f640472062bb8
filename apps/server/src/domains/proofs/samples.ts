import { randomInt } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { firstOf } from '../servers/index.ts'

/** If there are no more addresses than this, all are tried; otherwise one. */
const MOST_SAMPLES = 4

/**
 * Addresses of these ranges to try: all if they are few, otherwise a random one, so that it cannot be predicted. Of an
 * IPv6 range it is the first usable address.
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
  // Whole ranges are left out, so some tries find an address beside them, or there are too few to matter.
  for (let tries = 0; tries < 50; tries++) {
    const at = randomInt(total + ofIpv6.length)
    const found = at < total ? nth(at) : (ofIpv6[at - total] ?? '')
    if (!isLeftOut(found)) return [found]
  }
  return []
}

const numberOf = (address: ipaddr.IPv4) => address.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0)
const textOf = (number: number) => [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.')

/** Whether an address lies in one of these ranges. False for null and for anything that is not an address. */
export function isWithin(text: string | null, prefixes: readonly string[]): boolean {
  if (text === null || !ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return prefixes.some(prefix => {
    const [network, bits] = ipaddr.parseCIDR(prefix)
    return network.kind() === address.kind() && address.match(network, bits)
  })
}

/** Whether the check site saw the leased address; for an IPv6 lease, any address of its range. */
export const isOwn = (seen: string, address: string, prefixes: readonly string[]): boolean =>
  ipaddr.isValid(seen) &&
  (address.includes(':') ? isWithin(seen, prefixes) : ipaddr.process(seen).toString() === address)
