import type { AgentCode } from '@netlet/contract/agent-codes'
import type { SecureContext } from 'node:tls'
import type { DestinationPolicy } from '../net/destinations.ts'
import type { Resolve } from '../net/resolver.ts'
import { SendQueues } from '../net/send-queues.ts'
import type { SourcePorts } from '../net/source-ports.ts'
import type { Op } from '../state/definitions.ts'
import { type AbuseLimits, AbuseWatch } from './abuse-watch.ts'
import type { AccessTable, Lease } from './access-table.ts'
import { ExitAddresses, isSessionName, splitSession } from './exit-addresses.ts'
import { LineLimit, REFUSALS, Strangers, STRANGERS } from './strangers.ts'
import { LogTime } from '../log/access-log.ts'
import { type LetInBy, OpenConnections, type TrackedConnection } from './open-connections.ts'
import { clientKey, LoginGuard } from './login-guard.ts'
import { noFigures } from './plane-figures.ts'
import type { Sockets } from './socket-types.ts'
import { streamSockets } from './stream-sockets.ts'
import { inShortTurns, inTurns, TurnBudget } from '../turns.ts'
import { AddressNames, Associations } from './address-names.ts'
import { ConnectionLimits, type Holder, type TooMany } from './connection-limits.ts'
import { Handshakes } from './handshakes.ts'
import { HeldHeads } from './head-buffer.ts'
import type { Limits } from './limits.ts'
import { SharedLimits } from './shared-limits.ts'
import { SpeedLimits, type UserSpeed } from './speed-limit.ts'
import { countCode, NOBODY, type TrafficMeter, type TrafficRow } from './traffic-meter.ts'

/** `session`: the session in the user name, or empty. */
export type LoggedIn = { lease: Lease; by: LetInBy; session: string }
/**
 * Why a login fails. `ambiguous-client`: several users of the leased address list the client. `no-session`, `bad-session`:
 * the password is right, but the user has no sessions, or the name is invalid.
 */
export type LoginFault = 'no-auth' | 'too-many-failures' | 'ambiguous-client' | 'no-session' | 'bad-session'

/** Connections checked in one turn of the loop. */
const LOOK_A_TURN = 1000
/** Connections cut in one turn of the loop. */
const CUT_A_TURN = 50
const FAULT_EVERY_MS = 1000

export type PlaneParts = {
  accessTable: AccessTable
  destinations: DestinationPolicy
  resolve: Resolve
  limits: Limits
  traffic: TrafficMeter
  sourcePorts: SourcePorts
  /** Key for the addresses of sessions. */
  sessionKey: string
  /** Public names in TLS hellos that encrypt the real name (ECH). */
  echNames: readonly string[]
  abuse: AbuseLimits
  udp: boolean
  /** Takes one finished line of the access log. */
  log: (line: string) => void
  /** Receives internal errors that ended a connection, at most one a second. */
  tellFault?: (message: string) => void
}

/** What all connections of one process share: access, limits, counters, and the connections themselves. */
export class Plane {
  readonly accessTable: AccessTable
  readonly destinations: DestinationPolicy
  readonly resolve: Resolve
  readonly limits: Limits
  readonly traffic: TrafficMeter
  readonly sourcePorts: SourcePorts
  readonly exits: ExitAddresses
  readonly echNames: ReadonlySet<string>
  /** Chosen before the first connection. */
  sockets: Sockets = streamSockets
  /** Null: no TLS. A new one applies to new connections. */
  secureContext: SecureContext | null = null
  /** Whether SOCKS5 UDP ASSOCIATE is on. */
  readonly udp: boolean
  readonly sendQueues: SendQueues = new SendQueues()
  readonly turns: TurnBudget = new TurnBudget(error => this.fault(error))
  readonly associations: Associations = new Associations()
  readonly addressNames: AddressNames = new AddressNames(name => this.accessTable.names.numberAbove(name))
  readonly log: (line: string) => void
  readonly logTime: LogTime = new LogTime()
  readonly strangerLines: LineLimit = new LineLimit(STRANGERS)
  readonly refusalLines: LineLimit = new LineLimit(REFUSALS)
  readonly abuse: AbuseWatch
  readonly figures = noFigures()
  readonly #tellFault: (message: string) => void
  #nextFaultTold = 0
  /** A clock that advances with each sweep, cheap enough to read for every chunk. */
  now: number = performance.now()
  /** Another process accepts new connections. */
  isDraining = false
  #lastId = 0
  readonly open = new OpenConnections()
  readonly #strangers = new Strangers()
  readonly #guard: LoginGuard
  readonly handshakes: Handshakes<TrackedConnection>
  readonly heldHeads: HeldHeads<TrackedConnection>
  readonly #counts: ConnectionLimits
  readonly #speeds = new SpeedLimits()
  readonly shared: SharedLimits
  /** Users with no quota left, with the quota's id. */
  #spent = new Map<string, string>()
  readonly #sweeper: NodeJS.Timeout
  #sweeping = false

  constructor(parts: PlaneParts) {
    this.accessTable = parts.accessTable
    this.destinations = parts.destinations
    this.resolve = parts.resolve
    this.limits = parts.limits
    this.traffic = parts.traffic
    this.sourcePorts = parts.sourcePorts
    this.exits = new ExitAddresses(parts.sessionKey)
    this.echNames = new Set(parts.echNames)
    this.log = parts.log
    this.abuse = new AbuseWatch(parts.abuse)
    this.udp = parts.udp
    this.#tellFault = parts.tellFault ?? ((): void => {})
    this.#counts = new ConnectionLimits(parts.limits)
    this.shared = new SharedLimits(this.#counts, this.#speeds, this.open, this.accessTable)
    this.handshakes = new Handshakes(parts.limits)
    this.heldHeads = new HeldHeads(parts.limits.heldHeadBytes, () => this.turnedAway('too-many-open'))
    this.#guard = new LoginGuard(parts.limits.failedLogins, parts.limits.failedLoginMs)
    this.#sweeper = setInterval(() => this.#sweep(), parts.limits.sweepMs)
    this.#sweeper.unref()
  }

  nextId(): number {
    return ++this.#lastId
  }

  get connections(): number {
    return this.open.size
  }

  /**
   * Whether the client may open another connection. If there are too many, the oldest one without a login is closed. Customers log
   * in at once, so silent connections cannot shut them out.
   */
  admits(client: string): boolean {
    const { strangersPerClient, connections } = this.limits
    if (this.#strangers.countOf(client) >= strangersPerClient) this.#strangers.oldest(client)?.destroy()
    if (this.open.size >= connections) this.#strangers.oldest()?.destroy()
    return this.open.size < connections
  }

  opened(connection: TrackedConnection): void {
    this.open.add(connection)
    this.figures.accepted++
    this.#strangers.add(connection)
  }

  #leaveStrangers(connection: TrackedConnection, how: 'logged-in' | 'gone'): void {
    this.heldHeads.delete(connection)
    if (this.#strangers.delete(connection)) this.handshakes.ended(connection, how)
  }

  /** The lease for these credentials, or without any for the client's address; or why there is none. */
  logIn(connection: TrackedConnection, user: string, password: string): LoggedIn | LoginFault {
    const { clientText, local } = connection
    connection.named = null
    if (user === '' && password === '') {
      const open = this.accessTable.openTo(local, clientText)
      if (open === 'ambiguous') return 'ambiguous-client'
      // Other clients start without credentials too, so it does not count as a failure.
      return open === null ? 'no-auth' : { lease: open, by: 'address', session: '' }
    }
    // A user with exactly this name takes precedence over a session.
    const named = this.accessTable.lease(user) === undefined ? splitSession(user) : null
    if (named === null) return this.#authorise(connection, user, password)
    const loggedIn = this.#authorise(connection, named.user, password)
    if (typeof loggedIn === 'string') return loggedIn
    const { lease } = loggedIn
    const fault = lease.egress !== 'session' ? 'no-session' : isSessionName(named.session) ? null : 'bad-session'
    if (fault === null) return { ...loggedIn, session: named.session }
    connection.named = lease
    return fault
  }

  #authorise(connection: TrackedConnection, user: string, password: string): LoggedIn | LoginFault {
    const { clientText, local } = connection
    if (!this.#guard.allows(clientText, user, this.now)) return 'too-many-failures'
    const lease = this.accessTable.authorise(local, clientText, user, password)
    if (lease === null) {
      connection.named = this.accessTable.named(local, user)
      this.#guard.failed(clientText, user, password, this.now)
      if (this.accessTable.lease(user) !== undefined) this.abuse.wrongPassword(user, clientText, this.now)
      return 'no-auth'
    }
    this.#guard.succeeded(clientText, user)
    return { lease, by: 'password', session: '' }
  }

  /** Counts a connection that failed before anything was known of it. */
  turnedAway(code: AgentCode): void {
    const { outcomes } = this.figures
    outcomes[code] = (outcomes[code] ?? 0) + 1
    countCode(this.traffic.counter(NOBODY, NOBODY), code)
  }

  /** Counts an internal error that ended a connection. */
  fault(error: unknown): void {
    this.figures.faults++
    if (this.now < this.#nextFaultTold) return
    this.#nextFaultTold = this.now + FAULT_EVERY_MS
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#tellFault(
      `An error in the agent ended a connection (${this.figures.faults} since this process began): ${what}`
    )
  }

  closed(connection: TrackedConnection): void {
    this.open.delete(connection)
    this.#leaveStrangers(connection, 'gone')
    this.releaseSlot(connection)
  }

  /**
   * Counts a connection for a user, the leased address `address` (as it is counted) and its client, or returns why it is
   * refused. If accepted, it no longer counts for its previous user.
   */
  acquireSlot(connection: TrackedConnection, lease: Lease, address: string): TooMany | null {
    const client = clientKey(connection.clientText)
    const holder: Holder = { user: lease.user, address, client, since: performance.now() }
    if (this.#speedOf(lease)?.isOverdrawn === true) return 'too-fast'
    const refused = this.#counts.admitConnection(holder, lease)
    if (refused !== null) return refused
    this.releaseSlot(connection)
    this.open.assign(connection, lease.user)
    connection.holder = holder
    connection.setSpeed(this.#speedOf(lease))
    this.#leaveStrangers(connection, 'logged-in')
    return null
  }

  /** Counts another connection to a target, or returns why it is refused. */
  acquireDial({ holder, lease }: TrackedConnection): TooMany | null {
    return holder === null || lease === null ? null : this.#counts.admitDial(holder, lease)
  }

  releaseSlot(connection: TrackedConnection): void {
    const { holder } = connection
    if (holder === null) return
    connection.holder = null
    this.#counts.closed(holder)
    this.open.release(connection, holder.user)
  }

  #speedOf({ user, limits }: Lease): UserSpeed | null {
    return limits?.mbps === undefined ? null : this.#speeds.of(user, limits.mbps)
  }

  isSpent({ user, limits }: Lease): boolean {
    const quota = limits?.quota
    return quota !== undefined && (quota.bytes === 0 || this.#spent.get(user) === quota.id)
  }

  /** Sets the users with no quota left, as `user id`. Resolves when their connections have ended. */
  async setSpent(spent: readonly string[]): Promise<void> {
    this.#spent = new Map(spent.map(text => text.split(' ', 2) as [string, string]))
    await this.#cut(
      [...this.#spent.keys()],
      connection => connection.lease !== null && this.isSpent(this.present(connection.lease))
    )
  }

  /** The user's present lease. */
  present(lease: Lease): Lease {
    return this.accessTable.lease(lease.user) ?? lease
  }

  /** Accepts no new connections. Kept connections close after their present answer. */
  drain(): void {
    this.isDraining = true
    this.#counts.drain()
  }

  /** Applies changes at once, then cuts connections that their user may not have any more. Resolves when all are cut. */
  async apply(ops: readonly Op[]): Promise<void> {
    const changed = this.accessTable.apply(ops)
    if (ops.some(op => op.op === 'prefixes')) this.destinations.setOwn(this.accessTable.own)
    for (const user of changed) {
      this.#changeSpeed(user)
      this.#counts.changed(user)
    }
    await this.#cut(changed, connection => {
      const lease = this.accessTable.lease(connection.lease?.user ?? '')
      const { letInBy, local, clientText } = connection
      const kept =
        lease !== undefined &&
        (letInBy === 'address' || connection.lease?.secret.equals(lease.secret) === true) &&
        this.accessTable.permits(lease, local, clientText, letInBy)
      return !kept || this.isSpent(lease)
    })
    const isForAll = ops.some(op => op.op === 'blacklist')
    await this.#judgeAgain(isForAll ? this.open : [...changed].flatMap(user => [...this.open.of(user)]), isForAll)
  }

  /** Judges connections again, in several turns of the loop. @param isForAll the blacklist changed */
  async #judgeAgain(connections: Iterable<TrackedConnection>, isForAll: boolean): Promise<void> {
    // In short turns, because an association may have hundreds of targets.
    await inShortTurns(connections, connection => {
      const { lease } = connection
      if (lease !== null && (isForAll || this.present(lease).deny !== lease.deny)) connection.judgeAgain()
    })
  }

  #changeSpeed(user: string): void {
    const lease = this.accessTable.lease(user)
    this.#speeds.change(user, lease?.limits?.mbps)
    const speed = lease === undefined ? null : this.#speedOf(lease)
    for (const connection of this.open.of(user)) connection.setSpeed(speed)
  }

  async #cut(users: Iterable<string>, which: (connection: TrackedConnection) => boolean): Promise<void> {
    const cut: TrackedConnection[] = []
    for (const user of users) for (const connection of this.open.of(user)) if (which(connection)) cut.push(connection)
    await inTurns(cut, CUT_A_TURN, connection => {
      const lease = connection.lease && this.present(connection.lease)
      if (lease !== null && this.isSpent(lease)) connection.endBecause('quota')
      else connection.destroy()
    })
  }

  /** Counters since the last call, including open connections. */
  collect(): Iterable<TrafficRow> {
    for (const connection of this.open) connection.account()
    return this.traffic.collect()
  }

  /** The same in several turns of the loop: tens of thousands of connections take milliseconds. */
  async collectInTurns(): Promise<Iterable<TrafficRow>> {
    await inTurns(this.open, LOOK_A_TURN, connection => connection.account())
    return this.traffic.collect()
  }

  /** @param note log note of the tunnels that are cut; null: the default */
  close(note: AgentCode | null = null): void {
    clearInterval(this.#sweeper)
    this.#speeds.close()
    for (const connection of this.open) {
      if (note === null) connection.destroy()
      else connection.endBecause(note)
    }
    this.turns.finish()
  }

  #sweep(): void {
    this.now = performance.now()
    this.#strangers.tidy()
    for (const lines of [this.strangerLines, this.refusalLines]) {
      for (const [user, leftOut] of lines.takeLeftOut())
        this.log(`${this.logTime.at(Date.now())} - ${user} - - - 0 0 0 0 left-out:${leftOut}`)
    }
    if (!this.#sweeping) void this.#tickAll()
  }

  async #tickAll(): Promise<void> {
    this.#sweeping = true
    await inTurns(this.open, LOOK_A_TURN, connection => connection.tick(this.now))
    this.#sweeping = false
  }
}
