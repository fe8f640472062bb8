import { EXCEPTION_MARK } from '@netlet/contract/agent'
import { type Address, innerAddress, parsePrefix, type Prefix, RangeSet } from '../net/ip.ts'
import { DomainNames } from './domain-names.ts'
import { NumberSet } from './number-set.ts'

/** Used by one look at a time. */
// Stryker disable next-line ArrayDeclaration: each look writes before it reads.
const found: number[] = []

/**
 * Denied domains (with all subdomains), exceptions from them, and denied addresses: the longest line that matches a name
 * decides. Users with the same list share one set, all sets share their names, and a lookup walks the labels of the asked
 * name, so its cost hangs on the name, not on the list.
 */
export class DenySet {
  readonly #names: DomainNames
  readonly #domains = new NumberSet()
  readonly #exceptions = new NumberSet()
  // Stryker disable next-line ArrayDeclaration: what is no prefix denies nothing.
  readonly #prefixes: Prefix[] = []
  #ranges: RangeSet

  /** Takes normalised entries: lower-case domains, exceptions with their mark, addresses, prefixes. */
  constructor(entries: Iterable<string>, names: DomainNames = new DomainNames()) {
    this.#names = names
    // Stryker disable next-line ArrayDeclaration,CallExpression: domain-names.test.ts shows when names are let go of.
    names.releaseWith(this, [this.#domains, this.#exceptions])
    this.add(entries)
    this.#ranges = new RangeSet(this.#prefixes)
  }

  /** Takes the addresses of all entries in (until then those that were added are not denied), and no more room than needed. */
  seal(): this {
    // Stryker disable next-line CallExpression: it only takes less room.
    this.#domains.shrink()
    // Stryker disable next-line CallExpression: the same.
    this.#exceptions.shrink()
    this.#ranges = new RangeSet(this.#prefixes)
    return this
  }

  /** Adds some entries of a long list, before anybody looks at it. */
  add(entries: Iterable<string>): void {
    for (const entry of entries) {
      if (entry.startsWith(EXCEPTION_MARK)) {
        this.#names.hold(entry.slice(EXCEPTION_MARK.length), this.#exceptions)
        continue
      }
      const last = entry.charCodeAt(entry.length - 1)
      // A top-level label never ends in a digit followed by nothing but digits, so most entries need no parsing.
      // Stryker disable next-line ConditionalExpression,LogicalOperator,StringLiteral: parsed without need they are the same.
      const prefix = (last >= 48 && last <= 57) || entry.includes(':') ? parsePrefix(entry) : null
      if (prefix === null) this.#names.hold(entry, this.#domains)
      else this.#prefixes.push(prefix)
    }
  }

  /** Whether any name is denied, so that what a client shows inside a tunnel matters. */
  get hasNames(): boolean {
    return this.#domains.size > 0
  }

  /** Whether a rule lists addresses, so that a name has to be judged again once it is resolved. */
  get hasAddresses(): boolean {
    return !this.#ranges.empty
  }

  /** Takes a lower-case name without trailing dot. */
  deniesName(name: string): boolean {
    // Stryker disable next-line ConditionalExpression: what has no names is only spared the look.
    if (this.#domains.size === 0) return false
    // Most lists have no exception: they cost one look a label.
    // Stryker disable next-line ConditionalExpression,EqualityOperator: the second look would find nothing.
    const excepting = this.#exceptions.size > 0
    for (let n = this.#names.numbersAbove(name, found) - 1; n >= 0; n--) {
      const number = found[n] ?? 0
      if (this.#domains.has(number)) return true
      if (excepting && this.#exceptions.has(number)) return false
    }
    return false
  }

  /** An IPv6 address also where it leads to a denied IPv4 one. */
  deniesAddress(address: Address): boolean {
    // Stryker disable next-line ConditionalExpression: what has no addresses is only spared the look.
    if (this.#ranges.empty) return false
    const inner = innerAddress(address)
    return this.#ranges.has(address) || (inner !== null && this.#ranges.has(inner))
  }
}

export const emptyDenySet: DenySet = new DenySet([])
