import { LRUCache } from 'lru-cache'
import { formatV4, innerAddress, parseAddress } from '../net/ip.ts'

const MAX_ADDRESSES = 20_000
const MAX_NAMES = 16

/**
 * Which names lead to an address, as far as customers asked for them. So a denied site is known at its address too, without
 * asking for names that nobody wanted. Names of which a rule speaks are kept apart: a customer can have any number of others, and
 * let them lead anywhere. Of those below one domain of a rule the newest is kept: rules judge all of them alike, and customers may have
 * many there, too.
 */
export class AddressNames {
  readonly #ruled = new LRUCache<string, string[]>({ max: MAX_ADDRESSES })
  readonly #others = new LRUCache<string, string[]>({ max: MAX_ADDRESSES })
  /** Answers that were seen, with their name: while a name's answer is cached, it is the same object each time. */
  readonly #seen = new WeakMap<readonly string[], string>()
  readonly #ruleOf: (name: string) => number

  /** @param ruleOf a number for the longest line of anybody's rules that is the name or a domain above it; -1: there is none */
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

  /** Nothing for what is no address. */
  of(address: string): readonly string[] {
    const key = keyOf(address)
    return [...(this.#ruled.get(key) ?? []), ...(this.#others.get(key) ?? [])]
  }
}

/** One text for all spellings of an address, and for those that lead to it. */
function keyOf(text: string): string {
  const parsed = parseAddress(text)
  if (parsed === null) return ''
  const address = innerAddress(parsed) ?? parsed
  return address.v4 >= 0 ? formatV4(address.v4) : address.v6.toString(16)
}
