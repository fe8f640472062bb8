// Addresses and prefixes, shared by agents and the console's validation.
import ipaddr from 'ipaddr.js'

/** An address for fast comparison: `v4` is 0…2^32-1, or -1 for IPv6, whose value is `v6`. */
export type Address = { v4: number; v6: bigint }

/** A prefix in canonical notation with its first and last address (IPv4 addresses as numbers below 2^32). */
export type Prefix = { text: string; family: 4 | 6; first: bigint; last: bigint }

/** Parses a strict dotted quad; -1 for anything else (no octal, no short forms). */
export function parseV4(text: string): number {
  const length = text.length
  // Stryker disable next-line ConditionalExpression,LogicalOperator: others are only refused sooner.
  if (length < 7 || length > 15) return -1
  let value = 0
  let octet = 0
  let digits = 0
  let dots = 0
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code === 46) {
      if (digits === 0 || ++dots > 3) return -1
      value = value * 256 + octet
      octet = 0
      digits = 0
    } else if (code >= 48 && code <= 57) {
      if (digits > 0 && octet === 0) return -1
      octet = octet * 10 + code - 48
      if (++digits > 3 || octet > 255) return -1
    } else return -1
  }
  return dots === 3 && digits > 0 ? value * 256 + octet : -1
}

/** Parses an address; an IPv4-mapped IPv6 address becomes IPv4. null if invalid. */
export function parseAddress(text: string): Address | null {
  // Stryker disable next-line MethodExpression: the longer way reads the mapped form alike.
  const v4 = parseV4(text.startsWith('::ffff:') ? text.slice(7) : text)
  if (v4 >= 0) return { v4, v6: 0n }
  if (text.includes('%') || !ipaddr.IPv6.isValid(text)) return null
  const parsed = ipaddr.IPv6.parse(text)
  let value = 0n
  for (const part of parsed.parts) value = (value << 16n) | BigInt(part)
  return value >> 32n === 0xffffn ? { v4: Number(value & 0xffffffffn), v6: 0n } : { v4: -1, v6: value }
}

export function formatV4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

/** Canonical text (RFC 5952 for IPv6). */
export function formatAddress(family: 4 | 6, value: bigint): string {
  if (family === 4) return formatV4(Number(value))
  const parts: number[] = []
  for (let shift = 112n; shift >= 0n; shift -= 16n) parts.push(Number((value >> shift) & 0xffffn))
  return new ipaddr.IPv6(parts).toRFC5952String()
}

export const bitsOf = (family: 4 | 6): number => (family === 4 ? 32 : 128)

/** Makes a prefix from its first address and length; null if host bits are set. */
export function makePrefix(family: 4 | 6, first: bigint, length: number): Prefix | null {
  const size = 1n << BigInt(bitsOf(family) - length)
  if (first % size !== 0n) return null
  return { text: `${formatAddress(family, first)}/${length}`, family, first, last: first + size - 1n }
}

/** Parses `address/length`, or an address as a prefix of one. null if invalid or host bits are set. */
export function parsePrefix(text: string): Prefix | null {
  const slash = text.indexOf('/')
  // Stryker disable next-line EqualityOperator: before a slash at the beginning is no address either.
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash))
  if (address === null) return null
  const family = address.v4 >= 0 ? 4 : 6
  if (family === 4 && text.includes(':')) return null
  // Stryker disable next-line EqualityOperator: the same.
  const digits = slash < 0 ? String(bitsOf(family)) : text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(digits) || Number(digits) > bitsOf(family)) return null
  return makePrefix(family, family === 4 ? BigInt(address.v4) : address.v6, Number(digits))
}

export const byOrder = (a: Prefix, b: Prefix): number =>
  a.family - b.family ||
  (a.first < b.first ? -1 : a.first > b.first ? 1 : 0) ||
  // Stryker disable next-line EqualityOperator: the same prefix twice may be in any order.
  (a.last < b.last ? -1 : 1)

/** Parses, sorts and deduplicates; the first invalid text is returned as `bad`. */
export function parsePrefixes(texts: readonly string[]): { ok: true; prefixes: Prefix[] } | { ok: false; bad: string } {
  const found = new Map<string, Prefix>()
  for (const text of texts) {
    const prefix = parsePrefix(text.trim())
    if (prefix === null) return { ok: false, bad: text }
    found.set(prefix.text, prefix)
  }
  return { ok: true, prefixes: [...found.values()].toSorted(byOrder) }
}
