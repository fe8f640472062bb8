import { LRUCache } from 'lru-cache'
import { formatV4, innerAddress, parseAddress } from '../net/ip.ts'

const MAX_ADDRESSES = 20_000
const MAX_NAMES = 16

/**
 * The names that lead to an address, from customers' lookups. So a denied site is recognised at its bare address too, without
 * extra lookups. Names that a rule covers are kept apart, because a customer can point any number of other names anywhere. Of the
 * names under one rule's domain only the newest is kept: the rule judges all of them alike.
 */
export class AddressNames {
  readonly #ruled = new LRUCache<string, string[]>({ max: MAX_ADDRESSES })
  readonly #others = new LRUCache<string, string[]>({ max: MAX_ADDRESSES })
  /** Answers already noted, with their name. A cached answer is the same object each time. */
  readonly #seen = new WeakMap<readonly string[], string>()
  readonly #ruleOf: (name: string) => number

  /** @param ruleOf identifies the longest line of any user's rules that is the name or a domain above it; -1: none */
  constructor(ruleOf: (name: string) => number) {
    this.#ruleOf = ruleOf
  }

  note(name: string, addresses: readonly string[]): void {
    if (this.#seen.get(addresses) === name) return
    this.#seen.set(addresses, name)
    const rule = this.#ruleOf(name)
    const table = rule < 0 ? this.#others : this.#ruled
    for (const address of addresses) {
      const key = keyOf(address)
      const names = table.get(key) ?? []
      if (names.includes(name)) continue
      const kept = rule < 0 ? names : names.filter(other => this.#ruleOf(other) !== rule)
      table.set(key, [name, ...kept].slice(0, MAX_NAMES))
    }
  }

  /** Empty for a text that is not an address. */
  of(address: string): readonly string[] {
    const key = keyOf(address)
    return [...(this.#ruled.get(key) ?? []), ...(this.#others.get(key) ?? [])]
  }
}

/** The same key for all spellings of an address, and for NAT64 and 6to4 addresses that lead to it. */
function keyOf(text: string): string {
  const parsed = parseAddress(text)
  if (parsed === null) return ''
  const address = innerAddress(parsed) ?? parsed
  return address.v4 >= 0 ? formatV4(address.v4) : address.v6.toString(16)
}

/** The system delivers 32 datagrams of each in one turn of the loop, and even dropping them takes time. */
const MOST_OF_A_USER = 512

/** Counts each user's open associations in this process. */
export class Associations {
  readonly #open = new Map<string, number>()

  hasRoom(user: string): boolean {
    return (this.#open.get(user) ?? 0) < MOST_OF_A_USER
  }

  opened(user: string): void {
    this.#open.set(user, (this.#open.get(user) ?? 0) + 1)
  }

  closed(user: string): void {
    const left = (this.#open.get(user) ?? 0) - 1
    if (left > 0) this.#open.set(user, left)
    else this.#open.delete(user)
  }
}
