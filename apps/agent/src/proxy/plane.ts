import type { Address } from '../net/ip.ts'
import type { DestinationPolicy } from '../net/destinations.ts'
import type { Resolve } from '../net/resolver.ts'
import { SendQueues } from '../net/send-queues.ts'
import type { SourcePorts } from '../net/source-ports.ts'
import type { Op } from '../state/ops.ts'
import type { AccessTable, Lease } from './access-table.ts'
import { clientKey, LoginGuard } from './login-guard.ts'
import { nextTurn } from '../turns.ts'
import { AddressNames } from './address-names.ts'
import type { TrafficMeter, TrafficRow } from './traffic-meter.ts'

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
  /** Open connections of one client address that have not logged in. */
  strangersPerClient: number
  /** Wrong log-ins of one client address at once, and how long until one more is let through. */
  failedLogins: number
  failedLoginMs: number
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
  strangersPerClient: 1024,
  failedLogins: 100,
  failedLoginMs: 1000,
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

/** Connections that are cut in one turn of the loop. */
const CUT_A_TURN = 50

export type PlaneParts = {
  accessTable: AccessTable
  destinations: DestinationPolicy
  resolve: Resolve
  limits: Limits
  traffic: TrafficMeter
  sourcePorts: SourcePorts
  /** Names that ECH hellos show in place of the one that they hide. */
  echNames: readonly string[]
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
  readonly sourcePorts: SourcePorts
  readonly echNames: ReadonlySet<string>
  readonly sendQueues: SendQueues = new SendQueues()
  readonly addressNames: AddressNames = new AddressNames()
  readonly log: (line: string) => void
  /** A clock that steps with each sweep: cheap enough to be read for every chunk. */
  now: number = performance.now()
  readonly #open = new Set<TrackedConnection>()
  /** Those that have not logged in, oldest first: of all clients, and of each. */
  readonly #strangers = new Set<TrackedConnection>()
  readonly #strangersOf = new Map<string, Set<TrackedConnection>>()
  readonly #guard: LoginGuard
  readonly #byUser = new Map<string, Set<TrackedConnection>>()
  readonly #sweeper: NodeJS.Timeout

  constructor(parts: PlaneParts) {
    this.accessTable = parts.accessTable
    this.destinations = parts.destinations
    this.resolve = parts.resolve
    this.limits = parts.limits
    this.traffic = parts.traffic
    this.sourcePorts = parts.sourcePorts
    this.echNames = new Set(parts.echNames)
    this.log = parts.log
    this.#guard = new LoginGuard(parts.limits.failedLogins, parts.limits.failedLoginMs)
    this.#sweeper = setInterval(() => this.#sweep(), parts.limits.sweepMs)
    this.#sweeper.unref()
  }

  get connections(): number {
    return this.#open.size
  }

  /**
   * Whether another connection of the client may be opened. Where there are too many, the oldest one that has not logged
   * in makes room: customers log in at once, so that nobody can shut them out by saying nothing.
   */
  admits(client: string): boolean {
    const { strangersPerClient, connections } = this.limits
    const ofClient = this.#strangersOf.get(clientKey(client))
    if (ofClient !== undefined && ofClient.size >= strangersPerClient) first(ofClient)?.destroy()
    if (this.#open.size >= connections) first(this.#strangers)?.destroy()
    return this.#open.size < connections
  }

  opened(connection: TrackedConnection): void {
    this.#open.add(connection)
    this.#strangers.add(connection)
    const client = clientKey(connection.clientText)
    const ofClient = this.#strangersOf.get(client)
    if (ofClient === undefined) this.#strangersOf.set(client, new Set([connection]))
    else ofClient.add(connection)
  }

  #noStranger(connection: TrackedConnection): void {
    if (!this.#strangers.delete(connection)) return
    const client = clientKey(connection.clientText)
    const ofClient = this.#strangersOf.get(client)
    ofClient?.delete(connection)
    if (ofClient?.size === 0) this.#strangersOf.delete(client)
  }

  /** The lease that credentials give, or why there is none. */
  logIn(connection: TrackedConnection, user: string, password: string): Lease | 'no-auth' | 'too-many-failures' {
    const { clientText, local } = connection
    // Asking without credentials is how clients begin.
    if (user === '' && password === '') return 'no-auth'
    if (!this.#guard.allows(clientText, user, this.now)) return 'too-many-failures'
    const lease = this.accessTable.authorise(local, clientText, user, password)
    if (lease === null) this.#guard.failed(clientText, user, password, this.now)
    else this.#guard.succeeded(clientText, user)
    return lease ?? 'no-auth'
  }

  closed(connection: TrackedConnection): void {
    this.#open.delete(connection)
    this.#noStranger(connection)
    if (connection.lease !== null) this.releaseSlot(connection, connection.lease.user)
  }

  /** Counts a connection for a user; false when the user has as many as it may. */
  acquireSlot(connection: TrackedConnection, user: string): boolean {
    let set = this.#byUser.get(user)
    if (set === undefined) this.#byUser.set(user, (set = new Set()))
    if (set.size >= this.limits.connectionsPerUser) return false
    set.add(connection)
    this.#noStranger(connection)
    return true
  }

  releaseSlot(connection: TrackedConnection, user: string): void {
    const set = this.#byUser.get(user)
    set?.delete(connection)
    if (set?.size === 0) this.#byUser.delete(user)
  }

  /**
   * Applies changes at once. Connections that their user may not have any more are cut, some a turn of the loop; all of
   * them are when it resolves.
   */
  async apply(ops: readonly Op[]): Promise<void> {
    const changed = this.accessTable.apply(ops)
    if (ops.some(op => op.op === 'prefixes')) this.destinations.setOwn(this.accessTable.own)
    const cut: TrackedConnection[] = []
    for (const user of changed) {
      const lease = this.accessTable.lease(user)
      for (const connection of this.#byUser.get(user) ?? []) {
        const kept =
          lease !== undefined &&
          connection.lease?.secret.equals(lease.secret) === true &&
          this.accessTable.permits(lease, connection.local, connection.clientText)
        if (!kept) cut.push(connection)
      }
    }
    for (const [n, connection] of cut.entries()) {
      if (n > 0 && n % CUT_A_TURN === 0) await nextTurn()
      connection.destroy()
    }
  }

  /** The counters since the last call, those of open connections included. */
  collect(): Iterable<TrafficRow> {
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

const first = <T>(set: Set<T>): T | undefined => set.values().next().value
