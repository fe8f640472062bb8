import { LRUCache } from 'lru-cache'
import { clientKey } from './login-guard.ts'

/** Limits of TLS before the login, per process. A rate of 0 is no limit. */
export type HandshakeCaps = {
  /** Connections in TLS that have not logged in: of all clients, and of one client (IPv6: /64). */
  handshakes: number
  handshakesPerClient: number
  /** New ones a second. */
  newHandshakes: number
  newHandshakesPerClient: number
}

export const defaultHandshakeCaps: HandshakeCaps = {
  handshakes: 2000,
  handshakesPerClient: 256,
  newHandshakes: 300,
  newHandshakesPerClient: 50
}

const MAX_CLIENTS = 20_000
/** Seconds' worth that may come at once. */
const BURST = { all: 1, client: 2 }
/** The part of the total rate reserved for clients that logged in before. */
const LEFT_BY_STRANGERS = 0.5
const DECAY_MS = 1000

/** A token bucket. Times in milliseconds. */
class Allowance {
  readonly rate: number
  readonly burst: number
  left: number
  #at: number

  constructor(rate: number, seconds: number, now: number) {
    this.rate = rate
    this.burst = Math.max(1, rate * seconds)
    this.left = this.burst
    this.#at = now
  }

  refill(now: number): void {
    this.left = Math.min(this.burst, this.left + ((now - this.#at) * this.rate) / 1000)
    this.#at = now
  }

  giveBack(): void {
    this.left = Math.min(this.burst, this.left + 1)
  }
}

/** A client's recent handshakes. The count decays to about a third each second. */
class RecentCount {
  #count = 0
  #at: number

  constructor(now: number) {
    this.#at = now
  }

  count(now: number): number {
    this.#count *= Math.exp((this.#at - now) / DECAY_MS)
    this.#at = now
    return this.#count
  }

  add(): void {
    this.#count++
  }
}

type Client = { readonly clientText: string; destroy(): void }

/**
 * Clients in TLS that have not logged in. A handshake costs the loop a signature, and its connection takes a hundred times the
 * memory of a silent one. So both are limited. A login returns the allowance.
 */
export class Handshakes<C extends Client> {
  readonly #caps: HandshakeCaps
  /** Oldest first: all, and by client. */
  readonly #open = new Set<C>()
  readonly #ofClient = new Map<string, Set<C>>()
  readonly #all: Allowance
  readonly #clients = new LRUCache<string, { own: Allowance; recent: RecentCount }>({ max: MAX_CLIENTS })
  readonly #loggedIn = new LRUCache<string, true>({ max: MAX_CLIENTS })

  constructor(caps: HandshakeCaps) {
    this.#caps = caps
    this.#all = new Allowance(caps.newHandshakes, BURST.all, performance.now())
  }

  get size(): number {
    return this.#open.size
  }

  /** A connection begins TLS. If there are too many, the oldest is closed, first of the same client. */
  begin(connection: C): void {
    const key = clientKey(connection.clientText)
    let own = this.#ofClient.get(key)
    if (own !== undefined && own.size >= this.#caps.handshakesPerClient) first(own)?.destroy()
    if (this.#open.size >= this.#caps.handshakes) first(this.#open)?.destroy()
    this.#open.add(connection)
    // The client's set may have been removed with its last connection.
    own = this.#ofClient.get(key)
    if (own === undefined) this.#ofClient.set(key, new Set([connection]))
    else own.add(connection)
  }

  /**
   * Counts a handshake and returns whether it may go on. No client may use more of the total than remains, so a client with many
   * handshakes slows down and one with few always gets through.
   */
  allows(client: string): boolean {
    const now = performance.now()
    const key = clientKey(client)
    const { newHandshakes, newHandshakesPerClient } = this.#caps
    let of = this.#clients.get(key)
    if (of === undefined) {
      of = { own: new Allowance(newHandshakesPerClient, BURST.client, now), recent: new RecentCount(now) }
      this.#clients.set(key, of)
    }
    const { own, recent } = of
    own.refill(now)
    this.#all.refill(now)
    const least = this.#loggedIn.has(key) ? 1 : Math.max(1, this.#all.burst * LEFT_BY_STRANGERS)
    if (newHandshakesPerClient > 0 && own.left < 1) return false
    if (newHandshakes > 0 && this.#all.left < Math.max(least, recent.count(now))) return false
    own.left--
    this.#all.left--
    recent.add()
    return true
  }

  /** The connection logged in, or is gone. */
  ended(connection: C, how: 'logged-in' | 'gone'): void {
    if (!this.#open.delete(connection)) return
    const key = clientKey(connection.clientText)
    const own = this.#ofClient.get(key)
    own?.delete(connection)
    if (own?.size === 0) this.#ofClient.delete(key)
    if (how === 'gone') return
    this.#loggedIn.set(key, true)
    // Clients that log in have other limits.
    this.#clients.get(key)?.own.giveBack()
  }
}

const first = <T>(set: Set<T>): T | undefined => set.values().next().value
