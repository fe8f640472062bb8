import { LRUCache } from 'lru-cache'
import { parseAddress } from '../net/ip.ts'

/** Keeps the values added last, between `max / 2` and `max` of them. Two sets in rotation avoid keeping an order per lookup. */
export class RecentSet {
  readonly #half: number
  #young = new Set<string>()
  #old = new Set<string>()

  constructor(max: number) {
    this.#half = max / 2
  }

  add(value: string): void {
    if (this.#young.has(value)) return
    if (this.#young.size >= this.#half) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(value)
  }

  has(value: string): boolean {
    return this.#young.has(value) || this.#old.has(value)
  }

  delete(value: string): void {
    this.#young.delete(value)
    this.#old.delete(value)
  }
}

/** A client's remaining guesses, and hashes of its wrong credentials. */
type Failures = { left: number; at: number; wrong: Set<number> }

const MAX_CLIENTS = 10_000
const MAX_WRONG = 200
const MAX_GOOD = 20_000

/** The client that an address stands for. An IPv6 client has the whole /64. */
export function clientKey(text: string): string {
  if (!text.includes(':')) return text
  const address = parseAddress(text)
  return address === null ? text : (address.v6 >> 64n).toString(16)
}

/**
 * Slows password guessing, per client. The same wrong credentials count once, so a program with an old password locks no one
 * out. Users who logged in from the client before may always try.
 */
export class LoginGuard {
  readonly #clients = new LRUCache<string, Failures>({ max: MAX_CLIENTS })
  readonly #good = new RecentSet(MAX_GOOD)
  readonly #burst: number
  readonly #everyMs: number

  /** A client may guess wrong `burst` times at once, and once more each `everyMs`. */
  constructor(burst: number, everyMs: number) {
    this.#burst = burst
    this.#everyMs = everyMs
  }

  /** Whether these credentials may be checked. */
  allows(client: string, user: string, now: number): boolean {
    const failures = this.#clients.size === 0 ? undefined : this.#clients.get(clientKey(client))
    if (failures === undefined) return true
    this.#refill(failures, now)
    return failures.left >= 1 || this.#good.has(`${clientKey(client)} ${user}`)
  }

  succeeded(client: string, user: string): void {
    this.#good.add(`${clientKey(client)} ${user}`)
  }

  failed(client: string, user: string, password: string, now: number): void {
    const key = clientKey(client)
    let failures = this.#clients.get(key)
    if (failures === undefined) this.#clients.set(key, (failures = { left: this.#burst, at: now, wrong: new Set() }))
    const hash = hashOf(`${user}:${password}`)
    if (failures.wrong.has(hash)) return
    this.#refill(failures, now)
    failures.left = Math.max(0, failures.left - 1)
    failures.wrong.add(hash)
    const [oldest] = failures.wrong
    if (failures.wrong.size > MAX_WRONG && oldest !== undefined) failures.wrong.delete(oldest)
    this.#good.delete(`${key} ${user}`)
  }

  #refill(failures: Failures, now: number): void {
    failures.left = Math.min(this.#burst, failures.left + (now - failures.at) / this.#everyMs)
    failures.at = now
  }
}

/** FNV-1a. Credentials with equal hashes count once, which gives away one guess in four billion. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
