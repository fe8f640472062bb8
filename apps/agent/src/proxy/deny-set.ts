import { EXCEPTION_MARK } from '@netlet/contract/agent-hashes'
import { type Address, innerAddress, parsePrefix, type Prefix, RangeSet } from '../net/ip.ts'
import { DomainNames, NumberSet } from './domain-names.ts'

/** Shared by all lookups, which are synchronous. */
// Stryker disable next-line ArrayDeclaration: each lookup writes before it reads.
const found: number[] = []

/**
 * Denied domains (with all subdomains), exceptions from them, and denied addresses. The longest line that matches a name
 * decides. Users with the same list share a set, and all sets share their names. A lookup walks the labels of the name, so its
 * cost does not grow with the list.
 */
export class DenySet {
  readonly #names: DomainNames
  readonly #domains = new NumberSet()
  readonly #exceptions = new NumberSet()
  // Stryker disable next-line ArrayDeclaration: a text that is not a prefix denies nothing.
  readonly #prefixes: Prefix[] = []
  #ranges: RangeSet

  /** Takes normalised entries: lower-case domains, exceptions with their mark, addresses, prefixes. */
  constructor(entries: Iterable<string>, names: DomainNames = new DomainNames()) {
    this.#names = names
    // Stryker disable next-line ArrayDeclaration,CallExpression: domain-names.test.ts shows when names are released.
    names.releaseWith(this, [this.#domains, this.#exceptions])
    this.add(entries)
    this.#ranges = new RangeSet(this.#prefixes)
  }

  /** Puts added addresses into effect and frees spare memory. */
  seal(): this {
    // Stryker disable next-line CallExpression: it only saves memory.
    this.#domains.shrink()
    // Stryker disable next-line CallExpression: the same.
    this.#exceptions.shrink()
    this.#ranges = new RangeSet(this.#prefixes)
    return this
  }

  /** Adds a part of a long list, before the set is used. */
  add(entries: Iterable<string>): void {
    for (const entry of entries) {
      if (entry.startsWith(EXCEPTION_MARK)) {
        this.#names.hold(entry.slice(EXCEPTION_MARK.length), this.#exceptions)
        continue
      }
      const last = entry.charCodeAt(entry.length - 1)
      // A top-level label is never all digits, so most entries need no parsing.
      // Stryker disable next-line ConditionalExpression,LogicalOperator,StringLiteral: needless parsing gives the same result.
      const prefix = (last >= 48 && last <= 57) || entry.includes(':') ? parsePrefix(entry) : null
      if (prefix === null) this.#names.hold(entry, this.#domains)
      else this.#prefixes.push(prefix)
    }
  }

  /** Whether any name is denied, so that tunnels must be inspected. */
  get hasNames(): boolean {
    return this.#domains.size > 0
  }

  /** Whether an address is denied, so that a name must be judged again once it is resolved. */
  get hasAddresses(): boolean {
    return !this.#ranges.empty
  }

  /** @param name lower case, without trailing dot */
  deniesName(name: string): boolean {
    // Stryker disable next-line ConditionalExpression: saves the lookup if the set has no names.
    if (this.#domains.size === 0) return false
    // Most lists have no exceptions and so need one lookup per label.
    // Stryker disable next-line ConditionalExpression,EqualityOperator: the second lookup would find nothing.
    const excepting = this.#exceptions.size > 0
    for (let n = this.#names.numbersAbove(name, found) - 1; n >= 0; n--) {
      const number = found[n] ?? 0
      if (this.#domains.has(number)) return true
      if (excepting && this.#exceptions.has(number)) return false
    }
    return false
  }

  /** Also denies an IPv6 address that leads to a denied IPv4 address. */
  deniesAddress(address: Address): boolean {
    // Stryker disable next-line ConditionalExpression: saves the lookup if the set has no addresses.
    if (this.#ranges.empty) return false
    const inner = innerAddress(address)
    return this.#ranges.has(address) || (inner !== null && this.#ranges.has(inner))
  }
}

export const emptyDenySet: DenySet = new DenySet([])
