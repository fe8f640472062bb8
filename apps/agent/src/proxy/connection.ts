import { type Address, parseAddress } from '../net/ip.ts'
import type { Lease } from './access-table.ts'
import type { Counter } from './traffic-meter.ts'
import type { Egress } from './dial.ts'
import type { Plane, TrackedConnection } from './plane.ts'
import type { RawSocket, RawSocketOwner } from './raw-socket.ts'

/**
 * What a connection is doing: it speaks HTTP or SOCKS, or it is joined to a target. The sockets' events go to the
 * present stage, so that changing the stage is one assignment.
 */
export type Stage = {
  clientData(chunk: Buffer): void
  clientEnd(): void
  remoteData(chunk: Buffer): void
  remoteEnd(): void
  remoteDrain(): void
  /** Everything written to the client is with the kernel; for stages that stop reading until then. */
  clientDrain?(): void
  /** The target's connection broke or closed without its end being read. */
  remoteGone(): void
  /** Looks at the deadlines. */
  tick(now: number): void
  /** The client is gone: stop waiting, write the log. */
  closed(): void
}

/** A client's connection and the connection to a target that belongs to it. */
export class ClientConnection implements TrackedConnection, RawSocketOwner {
  readonly plane: Plane
  readonly socket: RawSocket
  readonly egress: Egress
  readonly clientText: string
  lease: Lease | null = null
  remote: RawSocket | null = null
  stage: Stage
  /** Bytes of the client that could not be delivered any more. */
  undelivered = 0
  #accountedUp = 0
  #accountedDown = 0
  #gone = false

  private constructor(
    plane: Plane,
    socket: RawSocket,
    egress: Egress,
    clientText: string,
    stage: (connection: ClientConnection) => Stage
  ) {
    this.plane = plane
    this.socket = socket
    this.egress = egress
    this.clientText = clientText
    this.stage = stage(this)
    plane.opened(this)
    socket.start(this)
  }

  /** Takes over an accepted connection; one that is gone already is dropped. */
  static accept(plane: Plane, socket: RawSocket, stage: (connection: ClientConnection) => Stage): void {
    const text = plainText(socket.local.address)
    const address = parseAddress(text)
    const client = plainText(socket.peer.address)
    if (address === null || !plane.admits(client)) {
      socket.destroy()
      return
    }
    void new ClientConnection(plane, socket, { text, address }, client, stage)
  }

  get local(): Address {
    return this.egress.address
  }

  /** Bytes that came from the client, as they are counted. */
  get up(): number {
    return this.socket.bytesRead - this.undelivered
  }

  get gone(): boolean {
    return this.#gone
  }

  /** Lets the connection be a user's; false when the user has too many. */
  acquireSlot(lease: Lease): boolean {
    if (this.lease?.user !== lease.user) {
      if (!this.plane.acquireSlot(this, lease.user)) return false
      this.account()
      if (this.lease !== null) this.plane.releaseSlot(this, this.lease.user)
    }
    this.lease = lease
    return true
  }

  /** Makes a connected socket the target's; an earlier one must be dropped before. */
  attach(remote: RawSocket): void {
    this.remote = remote
    remote.start(this)
  }

  socketData(rawSocket: RawSocket, chunk: Buffer): void {
    if (rawSocket === this.socket) return this.stage.clientData(chunk)
    if (rawSocket !== this.remote) return
    this.stage.remoteData(chunk)
    // The next read may overwrite the piece (`zeroCopy`): what the client did not take at once has to go first.
    if (this.socket.unsent > 0) rawSocket.pause()
  }

  socketEnd(rawSocket: RawSocket): void {
    if (rawSocket === this.socket) this.stage.clientEnd()
    else if (rawSocket === this.remote) this.stage.remoteEnd()
  }

  socketDrained(rawSocket: RawSocket): void {
    if (rawSocket === this.socket) {
      this.remote?.resume()
      this.stage.clientDrain?.()
    } else if (rawSocket === this.remote) this.stage.remoteDrain()
  }

  socketClosed(rawSocket: RawSocket): void {
    if (rawSocket === this.socket) return this.destroy()
    if (rawSocket !== this.remote) return
    this.remote = null
    this.stage.remoteGone()
  }

  dropRemote(): void {
    const remote = this.remote
    this.remote = null
    remote?.destroy()
  }

  /** Counts a finished request. */
  countRequest(failed: boolean): void {
    if (this.lease === null) return
    const counter = this.#counter(this.lease)
    counter.requests++
    if (failed) counter.errors++
  }

  #counter(lease: Lease): Counter {
    const wide = lease.wide.length === 0 ? undefined : lease.wide.find(range => range.set.has(this.local))
    return this.plane.traffic.counter(lease.user, wide?.countedAs ?? this.egress.text)
  }

  account(): void {
    if (this.lease === null) return
    const { up } = this
    const down = this.socket.bytesWritten
    if (up === this.#accountedUp && down === this.#accountedDown) return
    const counter = this.#counter(this.lease)
    counter.up += up - this.#accountedUp
    counter.down += down - this.#accountedDown
    this.#accountedUp = up
    this.#accountedDown = down
  }

  tick(now: number): void {
    this.stage.tick(now)
  }

  /** Ends both sides with a reset where they have not ended before: nobody is to take what it has for the whole. */
  destroy(): void {
    if (this.#gone) return
    this.#gone = true
    this.socket.reset()
    const { remote } = this
    this.remote = null
    remote?.reset()
    this.stage.closed()
    this.account()
    this.plane.closed(this)
  }

  /** Writes a line of the access log. Nothing of a path, a header or a password is ever in it. */
  log(line: LogLine): void {
    const user = this.lease?.user ?? '-'
    const head = `${new Date().toISOString()} ${this.clientText || '-'} ${user} ${this.egress.text}`
    this.plane.log(`${head} ${line.what} ${line.target} ${line.status} ${line.up} ${line.down} ${line.ms} ${line.note}`)
  }
}

export type LogLine = {
  what: string
  target: string
  status: number
  up: number
  down: number
  ms: number
  note: string
}

const plainText = (text: string): string => (text.startsWith('::ffff:') && text.includes('.') ? text.slice(7) : text)
