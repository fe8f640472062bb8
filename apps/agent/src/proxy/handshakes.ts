import { LRUCache } from 'lru-cache'
import { clientKey } from './login-guard.ts'

/** Limits of TLS before the login, for one process; a rate of 0 is none. */
export type HandshakeCaps = {
  /** Connections that speak TLS and have not logged in, of all clients and of one (IPv6: its /64). */
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
/** So many seconds' worth may come at once. */
const BURST = { all: 1, client: 2 }
/** What strangers leave of the rate of all, for clients that have logged in before. */
const LEFT_BY_STRANGERS = 0.5
const LATELY_MS = 1000

/** A rate with what is left of it; the clock is in milliseconds. */
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

/** How many of a client's handshakes were answered lately: with each second about a third of them still count. */
class Lately {
  #count = 0
  #at: number

  constructor(now: number) {
    this.#at = now
  }

  count(now: number): number {
    this.#count *= Math.exp((this.#at - now) / LATELY_MS)
    this.#at = now
    return this.#count
  }

  add(): void {
    this.#count++
  }
}

type Client = { readonly clientText: string; destroy(): void }

/**
 * Clients that speak TLS and have not logged in. A handshake costs the loop that carries all tunnels a signature, and its
 * connection weighs a hundred times what a silent one does: both are bounded, and who logs in gets the allowance back.
 */
export class Handshakes<C extends Client> {
  readonly #caps: HandshakeCaps
  /** Oldest first: all, and those of each client. */
  readonly #open = new Set<C>()
  readonly #ofClient = new Map<string, Set<C>>()
  readonly #all: Allowance
  readonly #clients = new LRUCache<string, { own: Allowance; lately: Lately }>({ max: MAX_CLIENTS })
  readonly #loggedIn = new LRUCache<string, true>({ max: MAX_CLIENTS })

  constructor(caps: HandshakeCaps) {
    this.#caps = caps
    this.#all = new Allowance(caps.newHandshakes, BURST.all, performance.now())
  }

  get size(): number {
    return this.#open.size
  }

  /** A connection begins to speak TLS. Where there are too many, the oldest makes room, of the same client first. */
  begin(connection: C): void {
    const key = clientKey(connection.clientText)
    let own = this.#ofClient.get(key)
    if (own !== undefined && own.size >= this.#caps.handshakesPerClient) first(own)?.destroy()
    if (this.#open.size >= this.#caps.handshakes) first(this.#open)?.destroy()
    this.#open.add(connection)
    // The last one of this client may have had to go.
    own = this.#ofClient.get(key)
    if (own === undefined) this.#ofClient.set(key, new Set([connection]))
    else own.add(connection)
  }

  /**
   * Whether another handshake may be answered. It is counted. No client takes more of what all of them have than it leaves: who asks for much
   * is slowed down until the others find as much, who asks for little always finds it.
   */
  allows(client: string): boolean {
    const now = performance.now()
    const key = clientKey(client)
    const { newHandshakes, newHandshakesPerClient } = this.#caps
    let of = this.#clients.get(key)
    if (of === undefined) {
      of = { own: new Allowance(newHandshakesPerClient, BURST.client, now), lately: new Lately(now) }
      this.#clients.set(key, of)
    }
    const { own, lately } = of
    own.refill(now)
    this.#all.refill(now)
    const least = this.#loggedIn.has(key) ? 1 : Math.max(1, this.#all.burst * LEFT_BY_STRANGERS)
    if (newHandshakesPerClient > 0 && own.left < 1) return false
    if (newHandshakes > 0 && this.#all.left < Math.max(least, lately.count(now))) return false
    own.left--
    this.#all.left--
    lately.add()
    return true
  }

  /** The connection is no stranger's any more: it logged in, or it is gone. */
  ended(connection: C, how: 'logged-in' | 'gone'): void {
    if (!this.#open.delete(connection)) return
    const key = clientKey(connection.clientText)
    const own = this.#ofClient.get(key)
    own?.delete(connection)
    if (own?.size === 0) this.#ofClient.delete(key)
    if (how === 'gone') return
    this.#loggedIn.set(key, true)
    // Of those that log in there are other limits.
    this.#clients.get(key)?.own.giveBack()
  }
}

const first = <T>(set: Set<T>): T | undefined => set.values().next().value
