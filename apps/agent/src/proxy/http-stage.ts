import type { AgentCode } from '@netlet/contract/agent-codes'
import type { ClientConnection, Stage } from './connection.ts'
import { checkBareAddress, checkTarget, dial, type Dialing } from './dial.ts'
import { DrainStage } from './drain-stage.ts'
import { HeadBuffer } from './head-buffer.ts'
import { RequestLine, REFUSALS } from './http-answers.ts'
import { startTunnel } from './inspected-tunnel.ts'
import { Login } from './login.ts'
import { established, reply } from './socks-address.ts'
import { type Authority, isRetriable, parseRequestHead, type RequestHead } from './request-head.ts'
import { RequestBody } from './chunked-body.ts'
import { ResponseReader } from './response-reader.ts'
import { IdleDetector } from './idle-detector.ts'
import type { RawSocket } from './socket-types.ts'

/** Longer heads take turns: parsing them is more work than accepting their connection. Most programs send shorter ones. */
const LONG_HEAD = 1024
/** Bytes of later requests that are kept during one, and unread ones of our own answers. Above it, the client waits. */
const MAX_BUFFERED = 65_536
/** A client with this many refusals and no login is closed. */
const MAX_REFUSALS = 10

/**
 * Speaks HTTP/1 with a client. Each request is authorised on its own, and consecutive requests to the same target share one
 * kept connection. CONNECT and upgrades turn the connection into a tunnel.
 */
export class HttpStage implements Stage {
  readonly #connection: ClientConnection
  readonly #pending = new HeadBuffer()
  readonly #login = new Login()
  #phase: 'head' | 'dialing' | 'exchange' = 'head'
  #since: number
  readonly #idle: IdleDetector
  #served = 0
  #clientEnded = false
  #reading = false
  #yielded = false
  /** The memory last reported for an incomplete head. */
  #held = 0
  /** Refused requests in a row, before any login. */
  #refusals = 0

  #body: RequestBody | null = null
  #response: ResponseReader | null = null
  #dialing: Dialing | null = null
  /** Target of the last request. */
  #known: Authority | null = null
  #remoteKey = ''
  #remoteReused = false
  readonly #line = new RequestLine()
  /** Log note for a request that is interrupted by the connection's end. */
  #endNote: AgentCode = 'client-left'

  constructor(connection: ClientConnection) {
    this.#connection = connection
    this.#since = connection.plane.now
    this.#idle = new IdleDetector(connection)
  }

  clientData(chunk: Buffer): void {
    if (this.#phase === 'exchange' && this.#body !== null && !this.#body.done) {
      this.#line.up += chunk.length
      this.#since = this.#connection.plane.now
      this.#feedBody(chunk)
      return
    }
    this.#pending.push(chunk, this.#connection.plane.now)
    if (this.#phase === 'head') this.#readHeads()
    else if (this.#pending.length > MAX_BUFFERED) this.#connection.socket.pause()
  }

  clientEnd(): void {
    this.#clientEnded = true
    // A client may close its side after complete requests and wait for the answers.
    if (this.#phase === 'head') this.#readHeads()
    else if (this.#body !== null && !this.#body.done) this.#connection.destroy()
  }

  remoteDrain(): void {
    this.#connection.socket.resume()
  }

  clientDrain(): void {
    this.#readOn()
  }

  /** Continues with buffered bytes, whose deadline starts now. @param isTurn whether it waited for this turn of the loop */
  #readOn(isTurn = false): void {
    this.#pending.since = this.#connection.plane.now
    this.#readHeads(isTurn)
  }

  #readHeads(isTurn = false): void {
    // An immediate answer calls this again from inside. The outer loop continues, so calls never nest deeper.
    if (this.#reading) return
    this.#reading = true
    this.#readPending(isTurn)
    this.#reading = false
    const held = this.#connection.stage === this ? this.#pending.held : 0
    if (held === this.#held) return
    this.#held = held
    this.#connection.plane.heldHeads.set(this.#connection, held)
  }

  #readPending(isTurn: boolean): void {
    const { socket, plane } = this.#connection
    for (let n = 0; this.#phase === 'head' && this.#connection.stage === this && !this.#connection.gone; n++) {
      // A connection's first head is read at once, unless it is long.
      const waits = n > 0 || (!isTurn && this.#pending.length > LONG_HEAD)
      if (waits && plane.turns.isOver(this.#connection.owner)) return this.#yield()
      if (socket.unsent > MAX_BUFFERED) return socket.pause()
      const next = this.#pending.next(plane.limits.headBytes, plane.now)
      if (next.kind === 'none') {
        if (this.#clientEnded) return DrainStage.close(this.#connection)
        // The socket may be paused, because the client sent much or did not read.
        return socket.resume()
      }
      this.#line.startedAt = performance.now()
      if (next.kind === 'too-large') return this.#rejectAndClose(431, 'The request head is too large', 'head-too-large')
      if (next.kind === 'malformed') return this.#rejectAndClose(400, 'Malformed line ends', 'malformed')
      this.#line.up = next.bytes
      this.#line.down = 0
      const parsed = parseRequestHead(next.text, this.#known)
      if (!parsed.ok) return this.#rejectAndClose(400, parsed.reason, 'malformed')
      if (!parsed.head.connect) this.#known = parsed.head.to
      this.#begin(parsed.head)
    }
  }

  /** Continues with buffered requests in a later turn of the loop, so that other users get theirs. */
  #yield(): void {
    const { socket, plane, owner, guarded } = this.#connection
    socket.pause()
    if (this.#yielded) return
    this.#yielded = true
    plane.turns.later(owner, () => {
      this.#yielded = false
      guarded(() => {
        // Reads even while dialling, to notice when the client leaves. A tunnel reads by itself.
        if (this.#connection.stage === this) socket.resume()
        this.#readOn(true)
      })
    })
  }

  #begin(head: RequestHead): void {
    const connection = this.#connection
    const { plane } = connection
    this.#line.head = head
    this.#since = plane.now
    this.#served++
    if (connection.remote === null) connection.exit = connection.egress
    const login = this.#login.check(connection, head.credentials)
    if (login !== 'ok') return this.#refuse(...REFUSALS[login], login)
    const lease = connection.lease
    if (lease === null) return
    if (plane.isSpent(lease))
      return this.#refuse(403, 'The traffic of this order is used up. Renew the order to get more', 'quota')
    const refused =
      checkTarget(plane, lease, head.to.host, head.to.port) ??
      (head.connect ? null : checkBareAddress(plane, lease, head.to.host))
    if (refused !== null) return this.#refuse(refused.status, refused.text, refused.code)
    connection.target = head.to.key
    if (!head.connect && connection.remote !== null && head.to.key === this.#remoteKey) {
      this.#remoteReused = true
      return this.#send(head, connection.remote)
    }
    this.#dial(head)
  }

  #dial(head: RequestHead): void {
    const connection = this.#connection
    const lease = connection.lease
    if (lease === null) return
    const refused = connection.acquireDial()
    if (refused !== null) {
      // The present target stays, so requests to it are still served.
      this.#phase = 'head'
      this.#refuse(...REFUSALS[refused], refused)
      return this.#readOn()
    }
    connection.dropRemote()
    this.#remoteKey = head.to.key
    this.#remoteReused = false
    this.#phase = 'dialing'
    const dialing = dial(
      connection.plane,
      lease,
      connection.nextExit(),
      head.to.host,
      head.to.port,
      result => {
        this.#dialing = null
        this.#phase = 'head'
        if ('status' in result) {
          this.#refuse(result.status, result.text, result.code)
          this.#readOn()
        } else {
          connection.attach(result)
          if (head.connect) this.#tunnel(result, established, null)
          else this.#send(head, result)
        }
      },
      connection.guarded
    )
    // `dial` may already have called back.
    if (this.#phase === 'dialing') this.#dialing = dialing
  }

  #send(head: RequestHead, remote: RawSocket): void {
    this.#phase = 'exchange'
    this.#response = new ResponseReader(head, this.#connection.plane.limits.responseHeadBytes)
    remote.write(head.forward)
    this.#body = new RequestBody(head.framing)
    const pending = this.#body.done ? null : this.#pending.take()
    // The socket may have been paused while dialling.
    if (!this.#body.done) this.#connection.socket.resume()
    if (pending !== null) {
      this.#line.up += pending.length
      this.#feedBody(pending)
    }
    if (this.#clientEnded && !this.#body.done) this.#connection.destroy()
  }

  #feedBody(chunk: Buffer): void {
    const { remote, socket, plane, owner } = this.#connection
    if (remote === null || this.#body === null) return
    const fed = this.#body.feed(chunk, remote)
    if (!fed.ok) {
      if (this.#response?.begun === true) this.#connection.destroy()
      else this.#rejectAndClose(400, 'Malformed chunk in the request body', 'malformed')
      return
    }
    if (fed.rest !== null) {
      this.#line.up -= fed.rest.length
      this.#pending.push(fed.rest, this.#connection.plane.now)
    }
    if (remote.unsent > 0) socket.pause()
    // Small chunks cost far more work than bytes.
    else if (this.#body.isChunked && plane.turns.isOver(owner)) this.#readLater(socket, remote)
  }

  /** Reads again in a later turn of the loop, unless the other side must drain first: its drain event then resumes. */
  #readLater(reads: RawSocket, writes: RawSocket): void {
    const connection = this.#connection
    const remote = connection.remote
    reads.pause()
    connection.plane.turns.later(connection.owner, () =>
      connection.guarded(() => {
        if (connection.remote === remote && writes.unsent === 0) reads.resume()
      })
    )
  }

  remoteData(chunk: Buffer): void {
    const { socket, remote, plane, owner } = this.#connection
    const response = this.#response
    if (this.#phase !== 'exchange' || response === null || remote === null) {
      // A target that speaks unasked gets no further request.
      return this.#connection.dropRemote()
    }
    this.#since = plane.now
    response.isLast = this.#isLast
    const step = response.read(chunk)
    for (const part of step.write) {
      this.#line.down += part.length
      socket.write(part)
    }
    if (step.state === 'bad') return this.#brokenResponse('bad-response')
    if (step.state === 'switch' && !this.#connection.gone) return this.#tunnel(remote, null, step.rest)
    if (step.state === 'done') this.#finish(response.keepAlive && step.rest === null)
    else if (response.isChunked && plane.turns.isOver(owner)) this.#readLater(remote, socket)
  }

  remoteEnd(): void {
    const response = this.#response
    if (this.#phase !== 'exchange' || response === null) return this.#connection.dropRemote()
    if (response.untilClose) return this.#finish(false)
    this.#connection.dropRemote()
    this.#brokenResponse('target-closed')
  }

  remoteGone(): void {
    if (this.#phase !== 'exchange') return
    if (this.#response?.begun === true) this.#breakAnswer('target-closed')
    else this.#brokenResponse('target-closed')
  }

  #brokenResponse(note: AgentCode): void {
    const head = this.#line.head
    const response = this.#response
    if (head === null || response?.begun === true) return this.#breakAnswer(note)
    if (this.#remoteReused && response?.received === false && isRetriable(head)) {
      // The target closed the kept connection, so the request is repeated on a new one.
      this.#connection.dropRemote()
      this.#dial(head)
      return
    }
    this.#rejectAndClose(502, 'The target sent an invalid response', note)
  }

  /** Part of an answer was sent, so only a reset tells the client that it is incomplete. Written bytes go out first. */
  #breakAnswer(note: AgentCode): void {
    const { socket } = this.#connection
    this.#line.write(this.#connection, 502, note)
    this.#phase = 'head'
    this.#connection.dropRemote()
    socket.pause()
    socket.resetWhenSent()
  }

  #tunnel(remote: RawSocket, hello: Buffer | null, fromTarget: Buffer | null): void {
    const connection = this.#connection
    const { head, startedAt } = this.#line
    const stage = startTunnel(connection, remote, {
      head,
      startedAt,
      target: this.#remoteKey,
      isUpgrade: hello === null
    })
    connection.stage = stage
    if (hello !== null) connection.socket.write(hello)
    connection.socket.resume()
    const pending = this.#pending.take()
    if (pending !== null) stage.clientData(pending)
    if (this.#clientEnded) stage.clientEnd()
    if (fromTarget !== null) connection.stage.remoteData(fromTarget)
  }

  #finish(remoteKept: boolean): void {
    const connection = this.#connection
    const bodyDone = this.#body?.done === true
    const keep = this.#line.head?.keepAlive === true && bodyDone && this.#response?.clientKeepAlive === true
    this.#line.write(this.#connection, this.#response?.status ?? 0, 'ok')
    this.#phase = 'head'
    this.#response = null
    this.#body = null
    if (!remoteKept || !bodyDone) connection.dropRemote()
    if (!keep) return DrainStage.close(connection)
    this.#readOn()
  }

  /** Answers a request that is not forwarded. The connection stays open if no body follows. */
  #refuse(status: number, text: string, note: AgentCode): void {
    const head = this.#line.head
    const keep =
      head !== null &&
      head.keepAlive &&
      head.framing.kind === 'none' &&
      // After a 407 a client waits before it sends more bytes of a tunnel, which are no requests.
      !(head.connect && (status !== 407 || this.#pending.length > 0)) &&
      !this.#isLast &&
      (this.#connection.lease !== null || ++this.#refusals < MAX_REFUSALS)
    if (!keep) return this.#rejectAndClose(status, text, note)
    this.#line.write(this.#connection, status, note)
    const message = reply(status, text, true, head.method === 'HEAD')
    this.#line.down += message.length
    this.#connection.socket.write(message)
  }

  /** Whether the client should use a new connection for its next request, because a newer process accepts them. */
  get #isLast(): boolean {
    return this.#connection.plane.isDraining && this.#pending.length === 0
  }

  #rejectAndClose(status: number, text: string, note: AgentCode): void {
    const message = reply(status, text, false, this.#line.head?.method === 'HEAD')
    this.#line.down += message.length
    this.#line.write(this.#connection, status, note)
    this.#phase = 'head'
    DrainStage.close(this.#connection, message)
  }

  tick(now: number): void {
    const { limits } = this.#connection.plane
    this.#dialing?.tick(now)
    const quiet = now - this.#since
    if (this.#phase === 'exchange') {
      if (!this.#idle.isOver(now, limits.idleMs)) return
      if (this.#response?.begun === true) this.#brokenResponse('idle')
      else this.#rejectAndClose(504, 'The target did not respond in time', 'idle')
    } else if (this.#phase === 'head') {
      if (this.#connection.socket.unsent > 0) {
        if (this.#idle.isOver(now, limits.idleMs)) this.#connection.destroy()
      } else if (this.#pending.length > 0) {
        if (now - this.#pending.since > limits.headMs)
          this.#rejectAndClose(408, 'The request took too long', 'slow-head')
      } else if (quiet > (this.#served === 0 ? limits.headMs : limits.keepAliveMs)) DrainStage.close(this.#connection)
    }
  }

  closed(): void {
    this.#dialing?.cancel()
    if (this.#line.head !== null && this.#phase !== 'head') this.#line.write(this.#connection, 499, this.#endNote)
  }

  setEndNote(note: AgentCode): void {
    this.#endNote = note
  }
}
