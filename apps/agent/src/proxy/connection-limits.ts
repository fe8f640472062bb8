import { LRUCache } from 'lru-cache'
import type { Lease } from './access-table.ts'

/** Limits for all connections that logged in. 0: no limit. */
export type ConnectionCaps = {
  /** Open connections of one user, leased address and client. */
  connectionsPerUser: number
  connectionsPerAddress: number
  connectionsPerClient: number
  /** New connections a second. */
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

/** Why a user gets no further connection, as in the access log. */
export type TooMany =
  | 'too-many'
  | 'too-many-address'
  | 'too-many-client'
  | 'too-fast'
  | 'too-fast-address'
  | 'too-fast-client'

/** What a connection counts for, and since when. `client` as from `clientKey`. */
export type Holder = { user: string; address: string; client: string; since?: number }

/**
 * One process' part of the limits that processes share. `open`: connections of a key, and their part of the limit.
 * `speeds`: the part of a user's speed in use, and by how many processes.
 */
export type Shares = {
  open: Array<[key: string, open: number, part: number]>
  speeds: Array<[user: string, used: number, processes: number]>
}
/** Connections of a key in other processes (0: none any more). `reported`: this process' own count at the time of counting. */
export type Elsewhere = [key: string, open: number, reported: number]

export type Kind = 'user' | 'address' | 'client'
/** A key has too many connections. Beyond the oldest `keep` this process ends those let in after `since` (`performance.now()`). */
export type Surplus = { kind: Kind; key: string; keep: number; since: number; note: TooMany }
type Rate = { left: number; at: number }
const KINDS = ['user', 'address', 'client'] as const
const codes = {
  user: ['too-many', 'too-fast'],
  address: ['too-many-address', 'too-fast-address'],
  client: ['too-many-client', 'too-fast-client']
} as const
/** Recent openers of connections that are remembered, of each kind. */
const MAX_RATES = 20_000
/** Seconds' worth of new connections that may come at once. */
const BURST = 2
/** A process reports keys above this part of its even share. So at most a quarter of the limit stays unreported. */
const REPORTED_FROM = 0.25
/** A draining process reports nearly all keys: others must count its connections until they end. */
const REPORTED_FROM_DRAINING = 0.02
/** Connections are ended above this part of the limit: several processes may let the same user in at the same moment. */
const TOO_MANY_FROM = 1.25
/** Older connections were within the limit when they came, and stay. Milliseconds. */
const YOUNG_MS = 5000

/** After this time every process knows which connections the others ended. Milliseconds. */
const SETTLE_MS = 1000

/** Counts open and new connections that logged in, of each user, leased address and client. */
export class ConnectionLimits {
  readonly #limits: ConnectionCaps
  readonly #open: Record<Kind, Map<string, number>> = { user: new Map(), address: new Map(), client: new Map() }
  readonly #rates: Record<Kind, LRUCache<string, Rate>> = {
    user: new LRUCache({ max: MAX_RATES }),
    address: new LRUCache({ max: MAX_RATES }),
    client: new LRUCache({ max: MAX_RATES })
  }
  /** Keys with many connections here, with the time of the newest. Scanning all keys each second would take milliseconds. */
  readonly #many: Record<Kind, Map<string, number>> = { user: new Map(), address: new Map(), client: new Map() }
  /** Keys of `#many` (`kind key`) whose count changed since it was reported. */
  readonly #changed = new Set<string>()
  /** When a user's limit was last changed, for users with open connections. */
  readonly #since = new Map<string, number>()
  /** Keys with connections that were just ended as too many. */
  readonly #trimmed = new LRUCache<string, true>({ max: MAX_RATES, ttl: SETTLE_MS })
  /** Open connections in other processes, from their last reports. */
  #elsewhere = new Map<string, number>()
  /** Called when other processes should soon know a changed count. */
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

  /** Per second, in this process. */
  #mostNew(kind: Kind, lease: Lease): number {
    const { newPerUser, newPerAddress, newPerClient, processes } = this.#limits
    if (kind === 'address') return (newPerAddress || Infinity) / processes
    if (kind === 'client') return (newPerClient || Infinity) / processes
    return Math.min(newPerUser || Infinity, lease.limits?.connections_per_second ?? Infinity) / processes
  }

  /** Counts a new connection, with its first connection to a target, or returns why it is refused. */
  admitConnection(holder: Holder, lease: Lease): TooMany | null {
    for (const kind of KINDS) {
      const key = holder[kind]
      const elsewhere = this.#elsewhere.size === 0 ? 0 : (this.#elsewhere.get(`${kind} ${key}`) ?? 0)
      const open = (this.#open[kind].get(key) ?? 0) + elsewhere
      if (open >= this.#mostOpen(kind, lease)) return codes[kind][0]
    }
    const tooFast = this.admitDial(holder, lease)
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

  /** Counts a further connection to a target like a login, or returns why it is refused. */
  admitDial(holder: Holder, lease: Lease): TooMany | null {
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

  /** The rate's present allowance. Null: no limit. */
  #rateOf(kind: Kind, key: string, lease: Lease, now: number): Rate | null {
    const most = this.#mostNew(kind, lease)
    if (most === Infinity) return null
    // Each process lets at least one through at once, even if its share of the limit is less.
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
      // Processes that know of many must soon hear of fewer: the user's next connection may reach them.
      if (this.#many[kind].has(key)) this.#touch(kind, key)
      const left = (this.#open[kind].get(key) ?? 1) - 1
      if (left === 0) {
        this.#open[kind].delete(key)
        this.#many[kind].delete(key)
        if (kind === 'user') this.#since.delete(key)
      } else this.#open[kind].set(key, left)
    }
  }

  /** Another generation of processes, older or newer, has connections too. */
  set isTogether(together: boolean) {
    if (together && !this.isShared) this.#touchAll(kind => this.#many[kind].keys())
    this.#isTogether = together
  }

  /** Lets no new connections in. Other processes count nearly all that are here until they end. */
  drain(): void {
    this.#isTogether = true
    this.#isDraining = true
    for (const kind of KINDS) for (const key of this.#open[kind].keys()) this.#many[kind].set(key, -Infinity)
    this.#touchAll(kind => this.#open[kind].keys())
  }

  #touchAll(keys: (kind: Kind) => Iterable<string>): void {
    for (const kind of KINDS) for (const key of keys(kind)) this.#changed.add(`${kind} ${key}`)
  }

  /** Marks a count that the others must learn. */
  #touch(kind: Kind, key: string): void {
    if (!this.isShared) return
    this.#changed.add(`${kind} ${key}`)
    this.onMany()
  }

  /** Counts that other processes must know. @param all reports nearly all keys */
  toTell(leaseOf: (user: string) => Lease | undefined, all: boolean = this.#isDraining): Shares['open'] {
    const reported: Shares['open'] = []
    for (const kind of KINDS) {
      // A small count for a process that accepts is a large one for a process that drains.
      for (const key of all ? this.#open[kind].keys() : this.#many[kind].keys()) {
        const open = this.#open[kind].get(key) ?? 0
        const most = this.#mostOpen(kind, kind === 'user' ? leaseOf(key) : undefined)
        if (this.#isMany(open, most, all)) reported.push([`${kind} ${key}`, open, open / most])
      }
    }
    return reported
  }

  /** Reportable counts that changed since the last call. 0: the count is small again. */
  takeChanges(leaseOf: (user: string) => Lease | undefined): Shares['open'] {
    const reported: Shares['open'] = []
    for (const name of this.#changed) {
      const { kind, key } = keyOf(name)
      const open = this.#open[kind].get(key) ?? 0
      const most = this.#mostOpen(kind, kind === 'user' ? leaseOf(key) : undefined)
      const isMany = this.#isMany(open, most)
      reported.push(isMany ? [name, open, open / most] : [name, 0, 0])
      if (!isMany) this.#many[kind].delete(key)
    }
    this.#changed.clear()
    return reported
  }

  /** Whether other processes share these limits. */
  get isShared(): boolean {
    return this.#limits.processes > 1 || this.#isTogether
  }

  /** A user's limit changed. Its open connections may be many now, but stay. */
  changed(user: string): void {
    if (!this.#open.user.has(user)) return
    this.#since.set(user, performance.now())
    this.#many.user.set(user, -Infinity)
    this.#touch('user', user)
  }

  #isMany(open: number, most: number, all = this.#isDraining): boolean {
    return open > (most / this.#limits.processes) * (all ? REPORTED_FROM_DRAINING : REPORTED_FROM)
  }

  /**
   * Takes the counts of other processes. If all processes together let in more than a limit allows, each keeps its share.
   * Shares come from counts of one moment, so repeated reports give the same result. Connections older than `YOUNG_MS`
   * or than the last change of the limit stay, because they were within the limit when they came.
   * @param isWhole keys that are not named have no connections elsewhere
   */
  setElsewhere(open: readonly Elsewhere[], leaseOf: (user: string) => Lease | undefined, isWhole: boolean): Surplus[] {
    const surplus: Surplus[] = []
    if (isWhole) this.#elsewhere = new Map()
    const now = performance.now()
    for (const [name, elsewhere, reported] of open) {
      if (elsewhere > 0) this.#elsewhere.set(name, elsewhere)
      else this.#elsewhere.delete(name)
      if (reported === 0 || this.#isDraining) continue
      const { kind, key } = keyOf(name)
      const most = this.#mostOpen(kind, kind === 'user' ? leaseOf(key) : undefined)
      if (reported + elsewhere <= most * TOO_MANY_FROM) continue
      const since = Math.max(now - YOUNG_MS, kind === 'user' ? (this.#since.get(key) ?? -Infinity) : -Infinity)
      if ((this.#many[kind].get(key) ?? -Infinity) <= since) continue
      // While the others end theirs, their older reports would make this process end too many.
      if (this.#trimmed.has(name)) continue
      // A process with any connections of the key keeps at least one.
      const keep = Math.ceil((reported * most) / (reported + elsewhere))
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
