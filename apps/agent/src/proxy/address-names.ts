import { LRUCache } from 'lru-cache'
import { formatV4, parseAddress } from '../net/ip.ts'

const MAX_ADDRESSES = 20_000
const MAX_NAMES = 16

/**
 * Which names lead to an address, as far as customers asked for them. So a denied site is known at its address too, without
 * asking for names that nobody wanted.
 */
export class AddressNames {
  readonly #names = new LRUCache<string, string[]>({ max: MAX_ADDRESSES })
  /** The answers seen last: while a name's answer is cached, it is the same object each time. */
  readonly #seen = new LRUCache<string, readonly string[]>({ max: MAX_ADDRESSES })

  note(name: string, addresses: readonly string[]): void {
    if (this.#seen.get(name) === addresses) return
    this.#seen.set(name, addresses)
    for (const address of addresses) {
      const key = keyOf(address)
      const names = this.#names.get(key) ?? []
      if (!names.includes(name)) this.#names.set(key, [name, ...names].slice(0, MAX_NAMES))
    }
  }

  /** Nothing for what is no address. */
  of(address: string): readonly string[] {
    return this.#names.get(keyOf(address)) ?? []
  }
}

/** One text for all spellings of an address. */
function keyOf(text: string): string {
  const address = parseAddress(text)
  if (address === null) return ''
  return address.v4 >= 0 ? formatV4(address.v4) : address.v6.toString(16)
}
