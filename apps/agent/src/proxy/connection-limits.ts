import { LRUCache } from 'lru-cache'
import type { Lease } from './access-table.ts'

/** Limits of connections that logged in, for everybody; 0: none. */
export type ConnectionCaps = {
  /** Open ones of one user, leased address and client. */
  connectionsPerUser: number
  connectionsPerAddress: number
  connectionsPerClient: number
  /** New ones a second. */
  newPerUser: number
  newPerAddress: number
  newPerClient: number
  /** Processes that share these limits. */
  processes: number
}

export const defaultCaps: ConnectionCaps = {
  connectionsPerUser: 4096,
  connectionsPerAddress: 8192,
  connectionsPerClient: 16_384,
  newPerUser: 2000,
  newPerAddress: 2000,
  newPerClient: 4000,
  processes: 1
}

/** Why another connection is not a user's. In the access log. */
export type TooMany =
  | 'too-many'
  | 'too-many-address'
  | 'too-many-client'
  | 'too-fast'
  | 'too-fast-address'
  | 'too-fast-client'

/** Whom a connection counts for, and since when. `client` as `clientKey` gives it. */
export type Holder = { user: string; address: string; client: string; since?: number }

/**
 * What a process has of what is limited for several together. `open`: connections of one key, and what part of its limit they are.
 * `speeds`: the part of a user's speed that is used, and by how many processes.
 */
export type Shares = {
  open: Array<[key: string, open: number, part: number]>
  speeds: Array<[user: string, used: number, processes: number]>
}
/** Connections of one key in other processes (0: none any more), and how many this one had told of when they were counted. */
export type Elsewhere = [key: string, open: number, told: number]

export type Kind = 'user' | 'address' | 'client'
/** Of one key there are too many: of those let in since then (of `performance.now()`) this process keeps so many, with all that are older. */
export type Surplus = { kind: Kind; key: string; keep: number; since: number; note: TooMany }
type Rate = { left: number; at: number }
const KINDS = ['user', 'address', 'client'] as const
const codes = {
  user: ['too-many', 'too-fast'],
  address: ['too-many-address', 'too-fast-address'],
  client: ['too-many-client', 'too-fast-client']
} as const
/** Of each kind, those that opened connections lately. */
const MAX_RATES = 20_000
/** So many seconds' worth may come at once. */
const BURST = 2
/** A process tells the others of whom it has more than this part of its even share: what it does not tell is at most a quarter of the limit. */
const TOLD_FROM = 0.25
/** One that takes no new connections tells of nearly all: the others count on it for as long as they last. */
const TOLD_FROM_DRAINING = 0.02
/** More than the limit by this part, since several let the same user's in at the same moment, and some have to go. */
const TOO_MANY_FROM = 1.25
/** Those that were let in longer ago were within the limit of then, and stay. Milliseconds. */
const YOUNG_MS = 5000

/** After so long every process has heard of what the others have ended. Milliseconds. */
const SETTLE_MS = 1000

/** Counts open and new connections that logged in: of each user, leased address and client. 0 as a limit is none. */
export class ConnectionLimits {
  readonly #limits: ConnectionCaps
  readonly #open: Record<Kind, Map<string, number>> = { user: new Map(), address: new Map(), client: new Map() }
  readonly #rates: Record<Kind, LRUCache<string, Rate>> = {
    user: new LRUCache({ max: MAX_RATES }),
    address: new LRUCache({ max: MAX_RATES }),
    client: new LRUCache({ max: MAX_RATES })
  }
  /** Those of whom there are many here, and when the last one was let in: looking at all of them each second would take milliseconds. */
  readonly #many: Record<Kind, Map<string, number>> = { user: new Map(), address: new Map(), client: new Map() }
  /** Those of `#many`, as `kind key`, whose number is another one than was told. */
  readonly #changed = new Set<string>()
  /** Since when users with open connections have the limit that they have, where that was changed. */
  readonly #since = new Map<string, number>()
  /** Those of whom some have just been ended for being too many. */
  readonly #trimmed = new LRUCache<string, true>({ max: MAX_RATES, ttl: SETTLE_MS })
  /** Open ones in other processes, as they told last. */
  #elsewhere = new Map<string, number>()
  /** Called where the other processes should know soon that there are more, or fewer, here. */
  onMany: () => void = () => {}
  #isTogether = false
  #isDraining = false

  constructor(limits: ConnectionCaps) {
    this.#limits = limits
  }

  #mostOpen(kind: Kind, lease: Lease | undefined): number {
    const { connectionsPerUser, connectionsPerAddress, connectionsPerClient } = this.#limits
    if (kind === 'address') return connectionsPerAddress || Infinity
    if (kind === 'client') return connectionsPerClient || Infinity
    return Math.min(connectionsPerUser || Infinity, lease?.limits?.connections ?? Infinity)
  }

  /** A second, in this process. */
  #mostNew(kind: Kind, lease: Lease): number {
    const { newPerUser, newPerAddress, newPerClient, processes } = this.#limits
    if (kind === 'address') return (newPerAddress || Infinity) / processes
    if (kind === 'client') return (newPerClient || Infinity) / processes
    return Math.min(newPerUser || Infinity, lease.limits?.connections_per_second ?? Infinity) / processes
  }

  /** Counts another connection, its first one to a target included, or says why it may not be. */
  open(holder: Holder, lease: Lease): TooMany | null {
    for (const kind of KINDS) {
      const key = holder[kind]
      const elsewhere = this.#elsewhere.size === 0 ? 0 : (this.#elsewhere.get(`${kind} ${key}`) ?? 0)
      const open = (this.#open[kind].get(key) ?? 0) + elsewhere
      if (open >= this.#mostOpen(kind, lease)) return codes[kind][0]
    }
    const tooFast = this.dial(holder, lease)
    if (tooFast !== null) return tooFast
    for (const kind of KINDS) {
      const open = (this.#open[kind].get(holder[kind]) ?? 0) + 1
      this.#open[kind].set(holder[kind], open)
      if (!this.#isMany(open, this.#mostOpen(kind, lease))) continue
      this.#many[kind].set(holder[kind], performance.now())
      this.#touch(kind, holder[kind])
    }
    return null
  }

  /** Counts a new connection to a target, as one that logs in counts, or says why it may not be. */
  dial(holder: Holder, lease: Lease): TooMany | null {
    const now = performance.now()
    const ofUser = this.#rateOf('user', holder.user, lease, now)
    if (ofUser !== null && ofUser.left < 1) return codes.user[1]
    const ofAddress = this.#rateOf('address', holder.address, lease, now)
    if (ofAddress !== null && ofAddress.left < 1) return codes.address[1]
    const ofClient = this.#rateOf('client', holder.client, lease, now)
    if (ofClient !== null && ofClient.left < 1) return codes.client[1]
    for (const rate of [ofUser, ofAddress, ofClient]) if (rate !== null) rate.left--
    return null
  }

  /** How many more may come now; null: any number. */
  #rateOf(kind: Kind, key: string, lease: Lease, now: number): Rate | null {
    const most = this.#mostNew(kind, lease)
    if (most === Infinity) return null
    // Of a limit that processes share, each lets at least one through at once.
    const burst = Math.max(1, most * BURST)
    let rate = this.#rates[kind].get(key)
    if (rate === undefined) this.#rates[kind].set(key, (rate = { left: burst, at: now }))
    rate.left = Math.min(burst, rate.left + ((now - rate.at) * most) / 1000)
    rate.at = now
    return rate
  }

  closed(holder: Holder): void {
    for (const kind of KINDS) {
      const key = holder[kind]
      // Who was told of many waits for the word that there are fewer: its next connection may come there.
      if (this.#many[kind].has(key)) this.#touch(kind, key)
      const left = (this.#open[kind].get(key) ?? 1) - 1
      if (left === 0) {
        this.#open[kind].delete(key)
        this.#many[kind].delete(key)
        if (kind === 'user') this.#since.delete(key)
      } else this.#open[kind].set(key, left)
    }
  }

  /** Another generation of processes, before or after this one, has connections too. */
  set isTogether(together: boolean) {
    if (together && !this.isShared) this.#touchAll(kind => this.#many[kind].keys())
    this.#isTogether = together
  }

  /** No new ones are let in: the others count on nearly all that are here, for as long as they last. */
  drain(): void {
    this.#isTogether = true
    this.#isDraining = true
    for (const kind of KINDS) for (const key of this.#open[kind].keys()) this.#many[kind].set(key, -Infinity)
    this.#touchAll(kind => this.#open[kind].keys())
  }

  #touchAll(keys: (kind: Kind) => Iterable<string>): void {
    for (const kind of KINDS) for (const key of keys(kind)) this.#changed.add(`${kind} ${key}`)
  }

  /** The others have to hear of it. */
  #touch(kind: Kind, key: string): void {
    if (!this.isShared) return
    this.#changed.add(`${kind} ${key}`)
    this.onMany()
  }

  /** Who has so many here that the other processes have to know. @param all tells of nearly everybody */
  toTell(leaseOf: (user: string) => Lease | undefined, all: boolean = this.#isDraining): Shares['open'] {
    const told: Shares['open'] = []
    for (const kind of KINDS) {
      // What is few for one that takes more is many for one that takes none.
      for (const key of all ? this.#open[kind].keys() : this.#many[kind].keys()) {
        const open = this.#open[kind].get(key) ?? 0
        const most = this.#mostOpen(kind, kind === 'user' ? leaseOf(key) : undefined)
        if (this.#isMany(open, most, all)) told.push([`${kind} ${key}`, open, open / most])
      }
    }
    return told
  }

  /** What of it is another number than the last time; 0 for those of whom there are not many any more. */
  takeChanges(leaseOf: (user: string) => Lease | undefined): Shares['open'] {
    const told: Shares['open'] = []
    for (const name of this.#changed) {
      const { kind, key } = keyOf(name)
      const open = this.#open[kind].get(key) ?? 0
      const most = this.#mostOpen(kind, kind === 'user' ? leaseOf(key) : undefined)
      const isMany = this.#isMany(open, most)
      told.push(isMany ? [name, open, open / most] : [name, 0, 0])
      if (!isMany) this.#many[kind].delete(key)
    }
    this.#changed.clear()
    return told
  }

  /** Whether other processes count with this one. */
  get isShared(): boolean {
    return this.#limits.processes > 1 || this.#isTogether
  }

  /** A user's limit is another one: what it has open may be many now, and stays in any case. */
  changed(user: string): void {
    if (!this.#open.user.has(user)) return
    this.#since.set(user, performance.now())
    this.#many.user.set(user, -Infinity)
    this.#touch('user', user)
  }

  #isMany(open: number, most: number, all = this.#isDraining): boolean {
    return open > (most / this.#limits.processes) * (all ? TOLD_FROM_DRAINING : TOLD_FROM)
  }

  /**
   * Takes what the other processes have. Where all together let in more than a limit allows, each keeps its share of it: made of
   * counts of the same moment, so that all of them come to the same, however often they are told. What is open for longer, or
   * since before the limit was changed, stays: it was within the limit when it was let in.
   * @param isWhole what is not named is nobody's any more
   */
  setElsewhere(open: readonly Elsewhere[], leaseOf: (user: string) => Lease | undefined, isWhole: boolean): Surplus[] {
    const surplus: Surplus[] = []
    if (isWhole) this.#elsewhere = new Map()
    const now = performance.now()
    for (const [name, elsewhere, told] of open) {
      if (elsewhere > 0) this.#elsewhere.set(name, elsewhere)
      else this.#elsewhere.delete(name)
      if (told === 0 || this.#isDraining) continue
      const { kind, key } = keyOf(name)
      const most = this.#mostOpen(kind, kind === 'user' ? leaseOf(key) : undefined)
      if (told + elsewhere <= most * TOO_MANY_FROM) continue
      const since = Math.max(now - YOUNG_MS, kind === 'user' ? (this.#since.get(key) ?? -Infinity) : -Infinity)
      if ((this.#many[kind].get(key) ?? -Infinity) <= since) continue
      // While the others end theirs, what they told before would have this one end more and more.
      if (this.#trimmed.has(name)) continue
      // Whoever has some here keeps one at least.
      const keep = Math.ceil((told * most) / (told + elsewhere))
      if ((this.#open[kind].get(key) ?? 0) <= keep) continue
      this.#trimmed.set(name, true)
      surplus.push({ kind, key, keep, since, note: codes[kind][0] })
    }
    return surplus
  }
}

function keyOf(name: string): { kind: Kind; key: string } {
  const space = name.indexOf(' ')
  return { kind: KINDS.find(each => each === name.slice(0, space)) ?? 'user', key: name.slice(space + 1) }
}
