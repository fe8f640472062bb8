import { isIPv4, isIPv6 } from 'node:net'
import type { AddressFamily } from '@netlet/contract'
import ipaddr from 'ipaddr.js'

/** The most units of one range: an IPv4 /12, an IPv6 /44. Larger ones are added in parts. */
const maxUnits = 2 ** 20

export type ParsedCidr =
  | { ok: true; cidr: string; /** IPv4 addresses, or IPv6 /64s. */ units: number }
  | { ok: false; message: string }

/**
 * Reads one range as typed ('10.0.0.0/24', ' 2001:DB8::/56 ', a lone IPv4 address) and writes it in one form. If host
 * bits are set, the refusal names the range that was probably meant: guessing could sell the wrong addresses.
 */
export function parseCidr(text: string): ParsedCidr {
  // Stryker disable next-line StringLiteral: for the compiler, as there is a first part.
  const [address = '', mask, ...rest] = text.trim().split('/')
  const bits = isIPv4(address) ? 32 : isIPv6(address) && !address.includes('%') ? 128 : 0
  if (bits === 0 || rest.length > 0) return refuse(text, 'is not an address range, such as 192.0.2.0/24')
  if (mask !== undefined && !/^(0|[1-9]\d{0,2})$/.test(mask)) return refuse(text, 'has no valid length after the slash')
  const length = mask === undefined ? bits : Number(mask)
  if (length > bits) return refuse(text, `has no valid length after the slash: at most ${bits}`)

  const hostBits = BigInt(bits - length)
  const value = addressToNumber(address)
  const first = (value >> hostBits) << hostBits
  const cidr = `${numberToAddress(first, bits)}/${length}`
  if (first !== value) return refuse(text, `has host bits set; the range that holds it is ${cidr}`)
  if (length > 64) return refuse(text, 'is too small: an IPv6 range is a /64 or larger')
  const units = 2 ** ((bits === 32 ? 32 : 64) - length)
  if (units > maxUnits) {
    return refuse(text, `is too large: at most a /${bits === 32 ? 12 : 44}; add larger ranges in parts`)
  }
  return { ok: true, cidr, units }
}

function refuse(text: string, problem: string): { ok: false; message: string } {
  return { ok: false, message: `${text.trim() || 'An empty line'} ${problem}` }
}

/** How many addresses of a range (as `parseCidr` writes it) are sold: IPv4 addresses, or IPv6 /64s. */
export function addressCount(cidr: string): number {
  const parsed = parseCidr(cidr)
  return parsed.ok ? parsed.units : 0
}

/** The family of a range that `parseCidr` wrote. */
export const familyOf = (cidr: string): AddressFamily => (cidr.includes(':') ? 'ipv6' : 'ipv4')

export function addressToNumber(address: string): bigint {
  return ipaddr
    .parse(address)
    .toByteArray()
    .reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
}

export function numberToAddress(value: bigint, bits: 32 | 128): string {
  const bytes = Array.from({ length: bits / 8 }, (_, at) => Number((value >> BigInt(bits - 8 - 8 * at)) & 255n))
  return ipaddr.fromByteArray(bytes).toString()
}

/** The number of an address's unit: of the address itself, or of its /64. Exact for differences within a range. */
export function unitNumber(address: string): number {
  const value = addressToNumber(address)
  return Number(isIPv4(address) ? value : BigInt.asUintN(52, value >> 64n))
}

/** The range of `units` units from the `nth` unit after that of `base`. A lone IPv4 address has no prefix length. */
export function rangeAt(base: string, nth: number, units: number): string {
  const first = addressToNumber(base)
  if (!isIPv4(base)) return `${numberToAddress(first + (BigInt(nth) << 64n), 128)}/${64 - Math.log2(units)}`
  const address = numberToAddress(first + BigInt(nth), 32)
  return units === 1 ? address : `${address}/${32 - Math.log2(units)}`
}

/** Whether two ranges, as `parseCidr` writes them, share an address. */
export function overlaps(a: string, b: string): boolean {
  const [one, other] = [ipaddr.parseCIDR(a), ipaddr.parseCIDR(b)]
  if (one[0].kind() !== other[0].kind()) return false
  return one[0].match(other) || other[0].match(one)
}

/** Consecutive units. `address` is the first address of the first unit. */
export type UnitRun = {
  address: string
  units: number
}

/**
 * The prefixes that hold exactly the leased addresses of these runs. Adjacent IPv4 runs are joined and cut into the
 * largest aligned prefixes. One address of an IPv6 /64 is leased, so each unit is a /128.
 */
export function prefixesOf(runs: UnitRun[]): string[] {
  const v4 = runs.filter(run => isIPv4(run.address))
  const v6 = runs.filter(run => !isIPv4(run.address))
  return [
    ...joinRuns(v4).flatMap(([start, end]) => alignedPrefixes(start, end)),
    ...v6.flatMap(run => {
      const first = addressToNumber(run.address)
      return Array.from({ length: run.units }, (_, nth) => {
        return `${numberToAddress(first + (BigInt(nth) << 64n) + 1n, 128)}/128`
      })
    })
  ]
}

/** The same prefixes with the whole /64 of each IPv6 address, for connections that leave from anywhere in it. */
export const wholeUnits = (prefixes: string[]): string[] => prefixes.map(prefix => prefix.replace('::1/128', '::/64'))

/** Half-open spans of numbers, ascending, none adjacent to another. */
function joinRuns(runs: UnitRun[]): [number, number][] {
  const spans = runs
    .map(({ address, units }): [number, number] => {
      const start = Number(addressToNumber(address))
      return [start, start + units]
    })
    .toSorted((a, b) => a[0] - b[0])
  const joined: [number, number][] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last && span[0] <= last[1]) last[1] = Math.max(last[1], span[1])
    else joined.push(span)
  }
  return joined
}

function alignedPrefixes(start: number, end: number): string[] {
  const prefixes: string[] = []
  for (let at = start; at < end;) {
    let size = 1
    while (at % (size * 2) === 0 && at + size * 2 <= end && size < 2 ** 31) size *= 2
    prefixes.push(`${numberToAddress(BigInt(at), 32)}/${32 - Math.log2(size)}`)
    at += size
  }
  return prefixes
}
