import type { AgentCode } from '@netlet/contract/agent-codes'
import type { SecureContext } from 'node:tls'
import type { DestinationPolicy } from '../net/destinations.ts'
import type { Resolve } from '../net/resolver.ts'
import { SendQueues } from '../net/send-queues.ts'
import type { SourcePorts } from '../net/source-ports.ts'
import type { Op } from '../state/ops.ts'
import { type AbuseLimits, AbuseWatch } from './abuse-watch.ts'
import type { AccessTable, Lease } from './access-table.ts'
import { ExitAddresses, isSessionName, splitSession } from './exit-addresses.ts'
import { LineLimit, REFUSALS, STRANGERS } from './line-limit.ts'
import { LogTime } from './log-time.ts'
import { type LetInBy, OpenConnections, type TrackedConnection } from './open-connections.ts'
import { clientKey, LoginGuard } from './login-guard.ts'
import { noFigures } from './plane-figures.ts'
import type { Sockets } from './raw-socket.ts'
import { streamSockets } from './stream-sockets.ts'
import { inShortTurns, inTurns, TurnBudget } from '../turns.ts'
import { AddressNames } from './address-names.ts'
import { Associations } from './associations.ts'
import {
  ConnectionLimits,
  type Elsewhere,
  type Holder,
  type Shares,
  type Surplus,
  type TooMany
} from './connection-limits.ts'
import { Handshakes } from './handshakes.ts'
import { HeldHeads } from './held-heads.ts'
import type { Limits } from './limits.ts'
import { partOf, SpeedLimits, type UserSpeed } from './speed-limit.ts'
import { Strangers } from './strangers.ts'
import { countCode, NOBODY, type TrafficMeter, type TrafficRow } from './traffic-meter.ts'

/** `session`: the name that came behind that of the user, or empty. */
export type LoggedIn = { lease: Lease; by: LetInBy; session: string }
/**
 * Why a client is not let in. `ambiguous-client`: several users of the leased address list it. `no-session`, `bad-session`: the
 * password is right, but the user has no sessions, or none can have such a name.
 */
export type LoginFault = 'no-auth' | 'too-many-failures' | 'ambiguous-client' | 'no-session' | 'bad-session'

/** Connections that are looked at in one turn of the loop. */
const LOOK_A_TURN = 1000
/** Connections that are cut in one turn of the loop. */
const CUT_A_TURN = 50
const FAULT_EVERY_MS = 1000
/** Of a speed, how much has to be used here for others to hear of it. */
const TOLD_SPEED = 0.02

export type PlaneParts = {
  accessTable: AccessTable
  destinations: DestinationPolicy
  resolve: Resolve
  limits: Limits
  traffic: TrafficMeter
  sourcePorts: SourcePorts
  /** What the addresses of sessions are made with. */
  sessionKey: string
  /** Names that ECH hellos show in place of the one that they hide. */
  echNames: readonly string[]
  abuse: AbuseLimits
  udp: boolean
  /** Takes one finished line of the access log. */
  log: (line: string) => void
  /** Hears of errors of our own that ended a connection, at most one a second. */
  tellFault?: (message: string) => void
}

/** What all connections of one process share: who may do what, limits, counters, and the connections themselves. */
export class Plane {
  readonly accessTable: AccessTable
  readonly destinations: DestinationPolicy
  readonly resolve: Resolve
  readonly limits: Limits
  readonly traffic: TrafficMeter
  readonly sourcePorts: SourcePorts
  readonly exits: ExitAddresses
  readonly echNames: ReadonlySet<string>
  /** What connections stand on; chosen before the first one is taken. */
  sockets: Sockets = streamSockets
  /** With it clients may speak TLS to the proxy; one that comes in place of it holds for new connections. */
  secureContext: SecureContext | null = null
  /** Whether datagrams pass (SOCKS5 UDP ASSOCIATE). */
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
  /** A clock that steps with each sweep: cheap enough to be read for every chunk. */
  now: number = performance.now()
  /** Another process takes the new connections. */
  isDraining = false
  #lastId = 0
  readonly open = new OpenConnections()
  readonly #strangers = new Strangers()
  readonly #guard: LoginGuard
  readonly handshakes: Handshakes<TrackedConnection>
  readonly heldHeads: HeldHeads<TrackedConnection>
  readonly #counts: ConnectionLimits
  readonly #speeds = new SpeedLimits()
  /** Users without quota, with its id. */
  #spent = new Map<string, string>()
  #toldAt = performance.now()
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
    this.handshakes = new Handshakes(parts.limits)
    this.heldHeads = new HeldHeads(parts.limits.heldHeadBytes, () => this.turnedAway('too-many-open'))
    this.#guard = new LoginGuard(parts.limits.failedLogins, parts.limits.failedLoginMs)
    this.#sweeper = setInterval(() => this.#sweep(), parts.limits.sweepMs)
    this.#sweeper.unref()
  }

  /** A number for a new connection. */
  nextId(): number {
    return ++this.#lastId
  }

  get connections(): number {
    return this.open.size
  }

  /**
   * Whether another connection of the client may be opened. Where there are too many, the oldest one that has not logged
   * in makes room: customers log in at once, so that nobody can shut them out by saying nothing.
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

  #noStranger(connection: TrackedConnection, how: 'logged-in' | 'gone'): void {
    this.heldHeads.delete(connection)
    if (this.#strangers.delete(connection)) this.handshakes.ended(connection, how)
  }

  /** The lease that credentials give, or, without any, the client's address; or why there is none. */
  logIn(connection: TrackedConnection, user: string, password: string): LoggedIn | LoginFault {
    const { clientText, local } = connection
    connection.named = null
    if (user === '' && password === '') {
      const open = this.accessTable.openTo(local, clientText)
      if (open === 'ambiguous') return 'ambiguous-client'
      // Asking without credentials is how other clients begin.
      return open === null ? 'no-auth' : { lease: open, by: 'address', session: '' }
    }
    // A user of that very name is nobody else's session.
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

  /** Counts a connection that came to nothing before anything was known of it. */
  turnedAway(code: AgentCode): void {
    const { outcomes } = this.figures
    outcomes[code] = (outcomes[code] ?? 0) + 1
    countCode(this.traffic.counter(NOBODY, NOBODY), code)
  }

  /** Counts an error of our own that ended a connection. */
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
    this.#noStranger(connection, 'gone')
    this.releaseSlot(connection)
  }

  /**
   * Counts a connection for a user, the leased address `address` (as it is counted) and its client, or says why it may not
   * be. One that was another user's is not any more, where it is taken.
   */
  acquireSlot(connection: TrackedConnection, lease: Lease, address: string): TooMany | null {
    const client = clientKey(connection.clientText)
    const holder: Holder = { user: lease.user, address, client, since: performance.now() }
    if (this.#speedOf(lease)?.isOverdrawn === true) return 'too-fast'
    const refused = this.#counts.open(holder, lease)
    if (refused !== null) return refused
    this.releaseSlot(connection)
    this.open.assign(connection, lease.user)
    connection.holder = holder
    connection.setSpeed(this.#speedOf(lease))
    this.#noStranger(connection, 'logged-in')
    return null
  }

  /** Counts another connection to a target for whom the connection counts, or says why it may not be. */
  acquireDial({ holder, lease }: TrackedConnection): TooMany | null {
    return holder === null || lease === null ? null : this.#counts.dial(holder, lease)
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

  /** Whether the user's traffic is used up. */
  isSpent({ user, limits }: Lease): boolean {
    const quota = limits?.quota
    return quota !== undefined && (quota.bytes === 0 || this.#spent.get(user) === quota.id)
  }

  /** Whose traffic is used up, as `user id`: their connections end. All of them have when it resolves. */
  async setSpent(spent: readonly string[]): Promise<void> {
    this.#spent = new Map(spent.map(text => text.split(' ', 2) as [string, string]))
    await this.#cut(
      [...this.#spent.keys()],
      connection => connection.lease !== null && this.isSpent(this.present(connection.lease))
    )
  }

  /** The lease of the same user as it is now. */
  present(lease: Lease): Lease {
    return this.accessTable.lease(lease.user) ?? lease
  }

  /** What the other processes have to know, all of it. */
  toTell(): Shares {
    return this.#counts.isShared ? { open: this.openToTell(), speeds: this.speedsToTell() } : { open: [], speeds: [] }
  }

  /** What of each speed was used here since the last call; asked for each second. Hardly any is not told of. */
  speedsToTell(): Shares['speeds'] {
    const now = performance.now()
    const ms = Math.max(1, now - this.#toldAt)
    this.#toldAt = now
    const speeds: Shares['speeds'] = []
    if (!this.#counts.isShared) return speeds
    for (const [user, speed] of this.#speeds.users) {
      const used = Math.min(1, speed.takeUse(ms))
      if (used > TOLD_SPEED) speeds.push([user, used, 1])
    }
    return speeds
  }

  /** Open connections that the other processes have to know of soon. @param all with those that are few */
  openToTell(all?: boolean): Shares['open'] {
    return this.#counts.toTell(user => this.accessTable.lease(user), all)
  }

  /** Those whose number changed since the last time. */
  changesToTell(): Shares['open'] {
    return this.#counts.takeChanges(user => this.accessTable.lease(user))
  }

  /** Whether processes before or after this one have connections, too, that count with those here. */
  set isTogether(together: boolean) {
    this.#counts.isTogether = together
  }

  /** Takes no new connections: each that is open ends after its present answer. */
  drain(): void {
    this.isDraining = true
    this.#counts.drain()
  }

  /** @param tell is called for each connection of whoever has many here */
  onMany(tell: () => void): void {
    this.#counts.onMany = tell
  }

  /** What the other processes have: all of it, or what changed. */
  setElsewhere(open: readonly Elsewhere[], isWhole: boolean): void {
    const surplus = this.#counts.setElsewhere(open, user => this.accessTable.lease(user), isWhole)
    if (surplus.length > 0) void this.#endSurplus(surplus)
  }

  /** What the other processes use of speeds that are used here; nothing of those that are not named. */
  setSpeeds(speeds: Shares['speeds']): void {
    const parts = new Map(speeds.map(([user, used, processes]) => [user, partOf(used, processes)]))
    for (const [user] of this.#speeds.users) this.#speeds.share(user, parts.get(user) ?? 1)
  }

  /**
   * Applies changes at once. Connections that their user may not have any more are cut, some a turn of the loop; all of
   * them are when it resolves.
   */
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

  /** Ends connections to what a new list denies, some a turn of the loop. @param isForAll whether they all have another list now */
  async #judgeAgain(connections: Iterable<TrackedConnection>, isForAll: boolean): Promise<void> {
    // An association has hundreds of targets.
    await inShortTurns(connections, connection => {
      const { lease } = connection
      if (lease !== null && (isForAll || this.present(lease).deny !== lease.deny)) connection.judgeAgain()
    })
  }

  /** Ends the youngest of those that are too many, some a turn of the loop, and tells the other processes. */
  async #endSurplus(surplus: readonly Surplus[]): Promise<void> {
    for (const { kind, key, keep, since, note } of surplus) {
      const among = kind === 'user' ? this.open.of(key) : this.open
      // In the order in which they were opened.
      const own = [...among].filter(connection => connection.holder?.[kind] === key)
      const young = own.slice(keep).filter(connection => (connection.holder?.since ?? 0) > since)
      await inTurns(young, CUT_A_TURN, connection => connection.endWith(note))
    }
    this.#counts.onMany()
  }

  #changeSpeed(user: string): void {
    const lease = this.accessTable.lease(user)
    this.#speeds.change(user, lease?.limits?.mbps)
    const speed = lease === undefined ? null : this.#speedOf(lease)
    for (const connection of this.open.of(user)) connection.setSpeed(speed)
  }

  /** Ends those of the users' connections that have to, some a turn of the loop. */
  async #cut(users: Iterable<string>, which: (connection: TrackedConnection) => boolean): Promise<void> {
    const cut: TrackedConnection[] = []
    for (const user of users) for (const connection of this.open.of(user)) if (which(connection)) cut.push(connection)
    await inTurns(cut, CUT_A_TURN, connection => {
      const lease = connection.lease && this.present(connection.lease)
      if (lease !== null && this.isSpent(lease)) connection.endWith('quota')
      else connection.destroy()
    })
  }

  /** The counters since the last call, those of open connections included. */
  collect(): Iterable<TrafficRow> {
    for (const connection of this.open) connection.account()
    return this.traffic.collect()
  }

  /** The same, some connections a turn of the loop: of tens of thousands it takes milliseconds. */
  async collectInTurns(): Promise<Iterable<TrafficRow>> {
    await inTurns(this.open, LOOK_A_TURN, connection => connection.account())
    return this.traffic.collect()
  }

  /** @param note what the access log is to say of tunnels that are cut; null: nothing in particular */
  close(note: AgentCode | null = null): void {
    clearInterval(this.#sweeper)
    this.#speeds.close()
    for (const connection of this.open) {
      if (note === null) connection.destroy()
      else connection.endWith(note)
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
