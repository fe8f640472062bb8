import { bitsOf, byOrder, makePrefix, parsePrefix, type Address, type Prefix } from '@netlet/contract/prefixes'

export {
  formatAddress,
  formatV4,
  parseAddress,
  parsePrefix,
  parsePrefixes,
  parseV4,
  type Address,
  type Prefix
} from '@netlet/contract/prefixes'

/** The prefixes among these texts. Other texts are skipped. */
export const prefixesOf = (texts: readonly string[]): Prefix[] => texts.flatMap(text => parsePrefix(text) ?? [])

/** The IPv4 address inside a NAT64 or 6to4 address, which is where it leads. IPv4-mapped ones are parsed as IPv4 already. */
export function innerAddress({ v6 }: Address): Address | null {
  if (v6 >> 32n === 0x64ff9b0000000000000000n) return { v4: Number(v6 & 0xffffffffn), v6: 0n }
  if (v6 >> 112n === 0x2002n) return { v4: Number((v6 >> 80n) & 0xffffffffn), v6: 0n }
  return null
}

/** Overlapping and adjacent prefixes as disjoint ascending ranges. */
export function mergeRanges(prefixes: readonly Prefix[]): Array<{ family: 4 | 6; first: bigint; last: bigint }> {
  const merged: Array<{ family: 4 | 6; first: bigint; last: bigint }> = []
  for (const prefix of [...prefixes].toSorted(byOrder)) {
    const before = merged.at(-1)
    if (before !== undefined && before.family === prefix.family && prefix.first <= before.last + 1n) {
      // Stryker disable next-line EqualityOperator: equal ends stay equal.
      if (prefix.last > before.last) before.last = prefix.last
    } else merged.push({ family: prefix.family, first: prefix.first, last: prefix.last })
  }
  return merged
}

/** The fewest prefixes that cover exactly `first`…`last`. */
export function rangeToPrefixes(family: 4 | 6, first: bigint, last: bigint): Prefix[] {
  const prefixes: Prefix[] = []
  let at = first
  while (at <= last) {
    let length = bitsOf(family)
    for (let size = 2n; at % size === 0n && at + size - 1n <= last; size *= 2n) length--
    const prefix = makePrefix(family, at, length)
    // Stryker disable next-line ConditionalExpression: for the compiler; `at` is always aligned to `length`.
    if (prefix === null) break
    prefixes.push(prefix)
    at = prefix.last + 1n
  }
  return prefixes
}

/** Ascending [first, last] pairs: cheap to send to workers, and ready for a binary search. */
export type PackedRanges = { v4: Uint32Array; v6: bigint[] }

export function packRanges(prefixes: readonly Prefix[]): PackedRanges {
  const ranges = mergeRanges(prefixes)
  const v4 = ranges.filter(range => range.family === 4).flatMap(range => [Number(range.first), Number(range.last)])
  const v6 = ranges.filter(range => range.family === 6).flatMap(range => [range.first, range.last])
  return { v4: Uint32Array.from(v4), v6 }
}

/** A set of addresses, given as prefixes. A lookup is a binary search. */
export class RangeSet {
  readonly #v4: Uint32Array
  readonly #v6: bigint[]

  constructor(ranges: readonly Prefix[] | PackedRanges) {
    const packed = 'v4' in ranges ? ranges : packRanges(ranges)
    this.#v4 = packed.v4
    this.#v6 = packed.v6
  }

  get empty(): boolean {
    return this.#v4.length === 0 && this.#v6.length === 0
  }

  has(address: Address): boolean {
    return address.v4 >= 0 ? within(this.#v4, address.v4) : within(this.#v6, address.v6)
  }
}

/** Whether one of the ascending [first, last] pairs contains the value. */
function within<T extends number | bigint>(pairs: ArrayLike<T>, value: T): boolean {
  let low = 0
  let high = pairs.length / 2 - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    if (value < (pairs[middle * 2] as T)) high = middle - 1
    else if (value > (pairs[middle * 2 + 1] as T)) low = middle + 1
    else return true
  }
  return false
}
