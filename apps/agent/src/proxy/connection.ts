import type { SecureContext } from 'node:tls'
import { type AgentCode, isAgentRefusal } from '@netlet/contract/agent-codes'
import { type Address, parseAddress } from '../net/ip.ts'
import type { Owner } from '../turns.ts'
import type { Lease } from './access-table.ts'
import type { Holder, TooMany } from './connection-limits.ts'
import { checkOpenTarget } from './dial.ts'
import { clientKey } from './login-guard.ts'
import type { UserSpeed } from './speed-limit.ts'
import { type Counter, countCode, NOBODY } from './traffic-meter.ts'
import type { Egress } from './exit-addresses.ts'
import type { LetInBy, TrackedConnection } from './open-connections.ts'
import type { LoggedIn, Plane } from './plane.ts'
import type { RawSocket, RawSocketOwner } from './socket-types.ts'
import type { ListNode } from './strangers.ts'
import { TlsSocket } from './tls-socket.ts'

/**
 * What a connection does now: speak HTTP or SOCKS, or carry a tunnel. Events of both sockets go to the present stage, so
 * a change of stage is one assignment.
 */
export type Stage = {
  clientData(chunk: Buffer): void
  clientEnd(): void
  remoteData(chunk: Buffer): void
  remoteEnd(): void
  remoteDrain(): void
  /** Everything written to the client is with the kernel. For stages that stop reading until then. */
  clientDrain?(): void
  /** The target's connection broke, or closed before its end was read. */
  remoteGone(): void
  /** Checks deadlines. */
  tick(now: number): void
  /** The client is gone. The stage stops waiting and writes its log line. */
  closed(): void
  /** The note that the log gets for the end that follows. */
  setEndNote?(note: AgentCode): void
  /** The rules changed. For stages with targets of their own. */
  judgeAgain?(): void
}

/** A client's connection, with its connection to a target. */
export class ClientConnection implements TrackedConnection, RawSocketOwner {
  readonly plane: Plane
  /** The client's side: inside TLS if it speaks TLS. */
  socket: RawSocket
  /**
   * The leased address that the client is connected to. The connection is counted for it, and by default connects to
   * targets from it.
   */
  readonly egress: Egress
  readonly clientText: string
  lease: Lease | null = null
  letInBy: LetInBy = 'password'
  /** The session in the user name, or empty. */
  session = ''
  /** What the last connection to a target left from. */
  exit: Egress
  target = '-'
  /** The site that the client showed in its tunnel. Undefined: the tunnel is not inspected. */
  shownName: string | null | undefined
  readonly id: number
  readonly openedAt: number = Date.now()
  stranger: ListNode | null = null
  holder: Holder | null = null
  /** The user named before a login. Refusals count for this user. */
  named: Lease | null = null
  remote: RawSocket | null = null
  stage: Stage
  /** Bytes from the client that could not be delivered. */
  undelivered = 0
  /** Bytes of the connection's datagrams. */
  udpUp = 0
  udpDown = 0
  #accountedUp = 0
  #accountedDown = 0
  #gone = false
  #speed: UserSpeed | null = null
  /** The login already counted for the next connection to a target. */
  #isDialCounted = false

  private constructor(
    plane: Plane,
    socket: RawSocket,
    egress: Egress,
    clientText: string,
    stage: (connection: ClientConnection) => Stage
  ) {
    this.plane = plane
    this.id = plane.nextId()
    this.socket = socket
    this.egress = egress
    this.exit = egress
    this.clientText = clientText
    this.stage = stage(this)
    plane.opened(this)
  }

  /** Takes over an accepted connection, or drops it if it is already gone. */
  static accept(plane: Plane, socket: RawSocket, stage: (connection: ClientConnection) => Stage): void {
    try {
      const text = plainText(socket.local.address)
      const address = parseAddress(text)
      const client = plainText(socket.peer.address)
      if (address === null || !plane.admits(client)) {
        socket.destroy()
        if (address !== null) plane.turnedAway('too-many-open')
        return
      }
      const connection = new ClientConnection(plane, socket, { text, address }, client, stage)
      connection.guarded(() => socket.start(connection))
    } catch (error) {
      socket.destroy()
      plane.fault(error)
      plane.turnedAway('internal-error')
    }
  }

  /** Runs a callback of other code. An error ends this connection, and nothing else. */
  readonly guarded = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      this.#fault(error)
    }
  }

  #fault(error: unknown): void {
    this.plane.fault(error)
    if (this.#gone) return
    const { up } = this
    const { outcomes } = this.plane.figures
    const before = outcomes['internal-error']
    this.endBecause('internal-error')
    // The stage already logged it.
    if (outcomes['internal-error'] !== before) return
    this.countRequest('internal-error')
    this.log({ what: '-', target: '-', status: 500, up, down: this.socket.bytesWritten, ms: 0, note: 'internal-error' })
  }

  get local(): Address {
    return this.egress.address
  }

  /** Bytes from the client, as they are counted. */
  get up(): number {
    return this.socket.bytesRead - this.undelivered
  }

  get down(): number {
    return this.socket.bytesWritten
  }

  /** Whose turns its work uses: a user's, or before the login those of the client address (IPv6: /64). */
  get owner(): Owner {
    return this.lease?.user ?? this.stranger?.of ?? this
  }

  get gone(): boolean {
    return this.#gone
  }

  /** Counts the connection for a user, or returns why it is refused. */
  acquireSlot({ lease, by, session }: LoggedIn): TooMany | null {
    if (this.lease?.user !== lease.user) {
      this.named = lease
      const refused = this.plane.acquireSlot(this, lease, this.#countedAs(lease))
      if (refused !== null) return refused
      this.account()
      this.#counter(lease).connections++
      this.#isDialCounted = true
    }
    this.lease = lease
    this.letInBy = by
    this.session = session
    return null
  }

  /** Counts a connection to a target, or returns why it is refused. The login counted for the first one. */
  acquireDial(): TooMany | null {
    if (!this.#isDialCounted) return this.plane.acquireDial(this)
    this.#isDialCounted = false
    return null
  }

  nextExit(): Egress {
    if (this.lease === null) return this.egress
    return (this.exit = this.plane.exits.next(this.lease, this.egress, this.session))
  }

  /** Whether a datagram fits the user's speed. If not it is lost, as is usual with UDP. */
  mayPass(direction: 'up' | 'down', bytes: number): boolean {
    return this.#speed === null || this.#speed[direction].takeNow(bytes)
  }

  setSpeed(speed: UserSpeed | null): void {
    if (speed === this.#speed) return
    this.#speed = speed
    speed?.up.begin(this.socket)
  }

  /** Attaches a connected socket to a target. The caller drops an earlier one before. */
  attach(remote: RawSocket): void {
    this.remote = remote
    this.plane.figures.targets++
    this.#speed?.down.begin(remote)
    remote.start(this)
  }

  // Called for every chunk, so without closures.
  socketData(rawSocket: RawSocket, chunk: Buffer): void {
    try {
      if (rawSocket === this.socket) {
        this.stage.clientData(chunk)
        this.#speed?.up.take(rawSocket, chunk.length)
        return
      }
      if (rawSocket !== this.remote) return
      this.stage.remoteData(chunk)
      this.#speed?.down.take(rawSocket, chunk.length)
      // The next read may overwrite the chunk (`zeroCopy`), so the client's socket must send it first.
      if (this.socket.unsent > 0) rawSocket.pause()
    } catch (error) {
      this.#fault(error)
    }
  }

  socketEnd(rawSocket: RawSocket): void {
    try {
      if (rawSocket === this.socket) this.stage.clientEnd()
      else if (rawSocket === this.remote) this.stage.remoteEnd()
    } catch (error) {
      this.#fault(error)
    }
  }

  socketDrained(rawSocket: RawSocket): void {
    try {
      if (rawSocket === this.socket) {
        this.remote?.resume()
        this.stage.clientDrain?.()
      } else if (rawSocket === this.remote) this.stage.remoteDrain()
    } catch (error) {
      this.#fault(error)
    }
  }

  socketClosed(rawSocket: RawSocket): void {
    if (rawSocket === this.socket) return this.destroy()
    if (rawSocket !== this.remote) return
    this.#takeRemote()
    this.guarded(() => this.stage.remoteGone())
  }

  dropRemote(): void {
    this.#takeRemote()?.destroy()
  }

  #takeRemote(): RawSocket | null {
    const { remote } = this
    if (remote !== null) this.plane.figures.targets--
    this.remote = null
    return remote
  }

  /** Continues inside TLS. `first` are the bytes that arrived. */
  secure(context: SecureContext, first: Buffer): void {
    const socket = new TlsSocket(this.socket, { context, first, turns: this.plane.turns, client: this })
    this.socket = socket
    socket.start(this)
  }

  /** Counts a finished request by its log note. Before a login only the note counts. */
  countRequest(note: AgentCode): void {
    if (this.lease === null) {
      const { traffic } = this.plane
      countCode(this.named === null ? traffic.counter(NOBODY, NOBODY) : this.#counter(this.named), note)
      return
    }
    const counter = this.#counter(this.lease)
    counter.requests++
    if (note === 'ok') return
    counter.errors++
    countCode(counter, note)
  }

  #counter(lease: Lease): Counter {
    return this.plane.traffic.counter(lease.user, this.#countedAs(lease))
  }

  #countedAs(lease: Lease): string {
    const wide = lease.wide.length === 0 ? undefined : lease.wide.find(range => range.set.has(this.local))
    return wide?.countedAs ?? this.egress.text
  }

  account(): void {
    if (this.lease === null) return
    const up = this.up + this.udpUp
    const down = this.socket.bytesWritten + this.udpDown
    if (up === this.#accountedUp && down === this.#accountedDown) return
    const counter = this.#counter(this.lease)
    counter.up += up - this.#accountedUp
    counter.down += down - this.#accountedDown
    this.#accountedUp = up
    this.#accountedDown = down
  }

  tick(now: number): void {
    try {
      this.stage.tick(now)
    } catch (error) {
      this.#fault(error)
    }
  }

  /** Closes both sides, with a reset if they have not ended: the peer must not take partial data for the whole. */
  destroy(): void {
    if (this.#gone) return
    this.#gone = true
    this.socket.reset()
    this.#takeRemote()?.reset()
    this.guarded(() => this.stage.closed())
    this.account()
    this.plane.closed(this)
  }

  judgeAgain(): void {
    if (this.lease === null) return
    this.guarded(() => this.stage.judgeAgain?.())
    const { plane, target: asked, shownName: shown } = this
    const address = this.remote === null ? null : plainText(this.remote.peer.address)
    const denied = checkOpenTarget(plane, plane.present(this.lease), { asked, address, shown })
    if (denied !== null) this.endBecause(denied)
  }

  endBecause(note: AgentCode): void {
    this.guarded(() => this.stage.setEndNote?.(note))
    this.destroy()
  }

  /** Writes a line of the access log. It never contains a path, a header or a password. */
  log(line: LogLine): void {
    const { figures, abuse, strangerLines, refusalLines, now } = this.plane
    const user = this.lease?.user ?? '-'
    figures.outcomes[line.note] = (figures.outcomes[line.note] ?? 0) + 1
    if (this.lease !== null) abuse.ended(user, line.target, line.note, now)
    if (
      this.lease === null
        ? !strangerLines.allows(clientKey(this.clientText), '-')
        : isUnserved(line) && !refusalLines.allows(user, user)
    )
      return
    const from = this.exit === this.egress ? '' : ` ${this.exit.text}`
    const head = `${this.plane.logTime.at(Date.now())} ${this.clientText || '-'} ${user} ${this.egress.text}`
    this.plane.log(
      `${head} ${line.what} ${line.target} ${line.status} ${line.up} ${line.down} ${line.ms} ${line.note}${from}`
    )
  }
}

export type LogLine = {
  what: string
  target: string
  status: number
  up: number
  down: number
  ms: number
  note: AgentCode
}

/** Notes that a client can cause at almost no cost: refusals, and targets that were not reached. */
const unserved: ReadonlySet<string> = new Set<AgentCode>([
  'not-found',
  'dns-timeout',
  'refused',
  'unreachable',
  'connect-timeout',
  'no-egress',
  'no-answer',
  'client-left',
  'malformed'
])
const isUnserved = ({ note }: LogLine): boolean => note !== 'ok' && (isAgentRefusal(note) || unserved.has(note))

const plainText = (text: string): string => (text.startsWith('::ffff:') && text.includes('.') ? text.slice(7) : text)
