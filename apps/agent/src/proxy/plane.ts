import type { Address } from '../net/ip.ts'
import type { DestinationPolicy } from '../net/destinations.ts'
import type { Resolve } from '../net/resolver.ts'
import type { Op } from '../state/ops.ts'
import type { AccessTable, Lease } from './access-table.ts'
import type { TrafficMeter } from './traffic-meter.ts'

/** Limits of the data plane; times in milliseconds, sizes in bytes. */
export type Limits = {
  headBytes: number
  responseHeadBytes: number
  /** From the first byte of a request (or SOCKS greeting) to the end of its head. */
  headMs: number
  /** A kept-alive connection between two requests. */
  keepAliveMs: number
  /** Silence in a tunnel or an exchange. */
  idleMs: number
  /** Silence in a tunnel of which one side has ended: mostly a client that is gone. */
  halfClosedMs: number
  connectMs: number
  connectionsPerUser: number
  connections: number
  /** How often deadlines are looked at. */
  sweepMs: number
}

export const defaultLimits: Limits = {
  headBytes: 32_768,
  responseHeadBytes: 65_536,
  headMs: 10_000,
  keepAliveMs: 60_000,
  idleMs: 300_000,
  halfClosedMs: 15_000,
  connectMs: 10_000,
  connectionsPerUser: 4096,
  connections: 60_000,
  sweepMs: 1000
}

/** What the plane asks of an open client connection. */
export type TrackedConnection = {
  readonly local: Address
  readonly clientText: string
  readonly lease: Lease | null
  /** Adds the bytes since the last call to the counter. */
  account(): void
  tick(now: number): void
  destroy(): void
}

export type PlaneParts = {
  accessTable: AccessTable
  destinations: DestinationPolicy
  resolve: Resolve
  limits: Limits
  traffic: TrafficMeter
  /** Takes one finished line of the access log. */
  log: (line: string) => void
}

/** What all connections of one process share: who may do what, limits, counters, and the connections themselves. */
export class Plane {
  readonly accessTable: AccessTable
  readonly destinations: DestinationPolicy
  readonly resolve: Resolve
  readonly limits: Limits
  readonly traffic: TrafficMeter
  readonly log: (line: string) => void
  /** A clock that steps with each sweep: cheap enough to be read for every chunk. */
  now: number = performance.now()
  readonly #open = new Set<TrackedConnection>()
  readonly #byUser = new Map<string, Set<TrackedConnection>>()
  readonly #sweeper: NodeJS.Timeout

  constructor(parts: PlaneParts) {
    this.accessTable = parts.accessTable
    this.destinations = parts.destinations
    this.resolve = parts.resolve
    this.limits = parts.limits
    this.traffic = parts.traffic
    this.log = parts.log
    this.#sweeper = setInterval(() => this.#sweep(), parts.limits.sweepMs)
    this.#sweeper.unref()
  }

  get connections(): number {
    return this.#open.size
  }

  opened(connection: TrackedConnection): void {
    this.#open.add(connection)
  }

  closed(connection: TrackedConnection): void {
    this.#open.delete(connection)
    if (connection.lease !== null) this.releaseSlot(connection, connection.lease.user)
  }

  /** Counts a connection for a user; false when the user has as many as it may. */
  acquireSlot(connection: TrackedConnection, user: string): boolean {
    let set = this.#byUser.get(user)
    if (set === undefined) this.#byUser.set(user, (set = new Set()))
    if (set.size >= this.limits.connectionsPerUser) return false
    set.add(connection)
    return true
  }

  releaseSlot(connection: TrackedConnection, user: string): void {
    const set = this.#byUser.get(user)
    set?.delete(connection)
    if (set?.size === 0) this.#byUser.delete(user)
  }

  /** Applies changes at once; connections that their user may not have any more are cut. */
  apply(ops: readonly Op[]): void {
    const changed = this.accessTable.apply(ops)
    if (ops.some(op => op.op === 'prefixes')) this.destinations.setOwnPrefixes(this.accessTable.prefixes)
    for (const user of changed) {
      const lease = this.accessTable.lease(user)
      for (const connection of this.#byUser.get(user) ?? []) {
        const kept =
          lease !== undefined &&
          connection.lease?.secret.equals(lease.secret) === true &&
          this.accessTable.permits(lease, connection.local, connection.clientText)
        if (!kept) connection.destroy()
      }
    }
  }

  /** The counters since the last call, those of open connections included. */
  collect(): ReturnType<TrafficMeter['collect']> {
    for (const connection of this.#open) connection.account()
    return this.traffic.collect()
  }

  close(): void {
    clearInterval(this.#sweeper)
    for (const connection of this.#open) connection.destroy()
  }

  #sweep(): void {
    this.now = performance.now()
    for (const connection of this.#open) connection.tick(this.now)
  }
}
