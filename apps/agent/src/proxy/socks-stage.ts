import type { AgentCode } from '@netlet/contract/agent-codes'
import type { ClientConnection, Stage } from './connection.ts'
import { dial, type Dialing, checkTarget, type Refused } from './dial.ts'
import { DrainStage } from './drain-stage.ts'
import { readAddress, writeAddress } from './socks-address.ts'
import { UdpStage } from './udp-stage.ts'
import { openTunnel } from './inspected-tunnel.ts'
import type { RawSocket } from './socket-types.ts'

/** RFC 1928 reply codes. */
const codes = {
  ok: 0,
  failure: 1,
  notAllowed: 2,
  hostUnreachable: 4,
  refused: 5,
  timeout: 6,
  badCommand: 7,
  badAddress: 8
}
const CONNECT = 1
const UDP_ASSOCIATE = 3
const MAX_PENDING = 65_536

function codeOf(refused: Refused): number {
  if (refused.status === 403) return codes.notAllowed
  if (refused.code === 'refused') return codes.refused
  if (refused.code === 'too-many-open') return codes.failure
  return refused.code === 'connect-timeout' ? codes.timeout : codes.hostUnreachable
}

/** Speaks SOCKS5 (RFC 1928) with user and password (RFC 1929), up to a tunnel or a UDP association. */
export class SocksStage implements Stage {
  readonly #connection: ClientConnection
  readonly #startedAt = performance.now()
  readonly #since: number
  #pending: Buffer = Buffer.alloc(0)
  #step: 'greeting' | 'auth' | 'request' | 'dialing' = 'greeting'
  #target = '-'
  #ended = false
  #logged = false
  /** Log note if the connection ends while dialling. */
  #endNote: AgentCode = 'client-left'
  #dialing: Dialing | null = null
  /** An association that is still opening. It closes with this stage. */
  #opening: UdpStage | null = null

  constructor(connection: ClientConnection) {
    this.#connection = connection
    this.#since = connection.plane.now
  }

  clientData(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    if (this.#step === 'dialing') {
      if (this.#pending.length > MAX_PENDING) this.#connection.socket.pause()
      return
    }
    if (this.#step === 'greeting') this.#greeting()
    if (this.#step === 'auth') this.#auth()
    if (this.#step === 'request') this.#request()
  }

  #greeting(): void {
    const data = this.#pending
    const count = data[1]
    if (count === undefined || data.length < 2 + count) return
    const methods = data.subarray(2, 2 + count)
    this.#pending = data.subarray(2 + count)
    // A client that offers credentials is asked for them. If it has none, it sends empty ones.
    if (data[0] !== 5 || !methods.includes(2)) return this.#withoutPassword(data[0] === 5 && methods.includes(0))
    this.#step = 'auth'
    this.#connection.socket.write(Buffer.from([5, 2]))
  }

  /** "No authentication" is only for listed clients. */
  #withoutPassword(offered: boolean): void {
    const connection = this.#connection
    const loggedIn = offered ? connection.plane.logIn(connection, '', '') : 'no-auth'
    if (typeof loggedIn === 'string') return this.#rejectAndClose(Buffer.from([5, 0xff]), 407, loggedIn)
    const refused = connection.acquireSlot(loggedIn)
    if (refused !== null) return this.#rejectAndClose(Buffer.from([5, 0xff]), 429, refused)
    this.#step = 'request'
    connection.socket.write(Buffer.from([5, 0]))
  }

  #auth(): void {
    const data = this.#pending
    const userEnd = 2 + (data[1] ?? 256)
    const passwordEnd = userEnd + 1 + (data[userEnd] ?? 256)
    if (data.length < passwordEnd) return
    const connection = this.#connection
    const loggedIn = connection.plane.logIn(
      connection,
      data.toString('latin1', 2, userEnd),
      data.toString('latin1', userEnd + 1, passwordEnd)
    )
    if (loggedIn === 'too-many-failures') return this.#rejectAndClose(Buffer.from([1, 3]), 429, loggedIn)
    if (data[0] !== 1) return this.#rejectAndClose(Buffer.from([1, 1]), 407, 'no-auth')
    if (loggedIn === 'no-session' || loggedIn === 'bad-session') {
      return this.#rejectAndClose(Buffer.from([1, 1]), 403, loggedIn)
    }
    if (typeof loggedIn === 'string') return this.#rejectAndClose(Buffer.from([1, 1]), 407, loggedIn)
    const refused = connection.acquireSlot(loggedIn)
    if (refused !== null) return this.#rejectAndClose(Buffer.from([1, 2]), 429, refused)
    this.#pending = data.subarray(passwordEnd)
    this.#step = 'request'
    connection.socket.write(Buffer.from([1, 0]))
  }

  #request(): void {
    const data = this.#pending
    const command = data[1]
    if (command === undefined) return
    if (data[0] !== 5 || (command !== CONNECT && command !== UDP_ASSOCIATE)) {
      return this.#refuse(codes.badCommand, 400, 'malformed')
    }
    const to = readAddress(data, 3)
    if (to === 'more') return
    if (command === UDP_ASSOCIATE && to !== 'type') {
      // If the client gives no port, or is seen under another address, its first datagram decides.
      const known = to !== 'malformed' && to.host === this.#connection.clientText
      return this.#associate(known ? to.port : 0)
    }
    if (to === 'type') return this.#refuse(codes.badAddress, 400, 'malformed')
    if (to === 'malformed') return this.#refuse(codes.failure, 400, 'malformed')
    this.#pending = data.subarray(to.end)
    this.#connect(to.host, to.port)
  }

  #associate(clientPort: number): void {
    const connection = this.#connection
    const { lease, plane } = connection
    this.#target = connection.target = 'udp'
    if (lease !== null && plane.isSpent(lease)) return this.#refuse(codes.notAllowed, 403, 'quota')
    if (!plane.udp) return this.#refuse(codes.badCommand, 403, 'udp-off')
    if (!plane.associations.hasRoom(lease?.user ?? '')) return this.#refuse(codes.failure, 429, 'too-many')
    this.#step = 'dialing'
    this.#pending = Buffer.alloc(0)
    const finished = (note: AgentCode): void => this.#log(200, note)
    const opened = (stage: UdpStage, port: number | null): void => {
      if (port === null) return this.#refuse(codes.failure, 502, 'no-egress')
      connection.stage = stage
      connection.socket.write(
        Buffer.concat([Buffer.from([5, codes.ok, 0]), writeAddress(connection.egress.text, port)])
      )
      connection.socket.resume()
      if (this.#ended) stage.clientEnd()
    }
    this.#opening = UdpStage.open(connection, clientPort, opened, finished)
  }

  #connect(host: string, port: number): void {
    const connection = this.#connection
    const { lease, plane } = connection
    if (lease === null) return
    this.#target = `${host}:${port}`
    connection.target = this.#target
    if (plane.isSpent(lease)) return this.#refuse(codes.notAllowed, 403, 'quota')
    const judged = checkTarget(plane, lease, host, port)
    if (judged !== null) return this.#refuse(codeOf(judged), judged.status, judged.code)
    this.#step = 'dialing'
    const dialing = dial(
      plane,
      lease,
      connection.nextExit(),
      host,
      port,
      result => {
        this.#dialing = null
        if ('status' in result) this.#refuse(codeOf(result), result.status, result.code)
        else this.#join(result, host)
      },
      connection.guarded
    )
    if (connection.stage === this) this.#dialing = dialing
  }

  #join(remote: RawSocket, asked: string): void {
    const connection = this.#connection
    connection.attach(remote)
    const stage = openTunnel(connection, remote, asked, note => this.#log(200, note))
    connection.stage = stage
    connection.socket.write(answer(codes.ok, remote))
    connection.socket.resume()
    if (this.#pending.length > 0) stage.clientData(this.#pending)
    if (this.#ended) stage.clientEnd()
  }

  #refuse(code: number, status: number, note: AgentCode): void {
    this.#rejectAndClose(answer(code, null), status, note)
  }

  #rejectAndClose(message: Buffer, status: number, note: AgentCode): void {
    const connection = this.#connection
    this.#step = 'dialing'
    this.#log(status, note)
    DrainStage.close(connection, message)
  }

  #log(status: number, note: AgentCode): void {
    if (this.#logged) return
    this.#logged = true
    const { up } = this.#connection
    const down = this.#connection.socket.bytesWritten
    const ms = Math.round(performance.now() - this.#startedAt)
    this.#connection.countRequest(note)
    this.#connection.log({ what: 'SOCKS5', target: this.#target, status, up, down, ms, note })
  }

  clientEnd(): void {
    this.#ended = true
    if (this.#step !== 'dialing') this.#connection.destroy()
  }

  tick(now: number): void {
    this.#dialing?.tick(now)
    if (this.#step !== 'dialing' && now - this.#since > this.#connection.plane.limits.headMs) {
      this.#log(408, 'slow-head')
      this.#connection.destroy()
    }
  }

  closed(): void {
    this.#dialing?.cancel()
    this.#opening?.abandon()
    if (this.#step === 'dialing') this.#log(499, this.#endNote)
  }

  setEndNote(note: AgentCode): void {
    this.#endNote = note
  }

  remoteData(): void {}
  remoteEnd(): void {}
  remoteDrain(): void {}
  remoteGone(): void {}
}

/** A reply with the address that the connection leaves from, or zeros. */
function answer(code: number, remote: RawSocket | null): Buffer {
  const { address, port } = remote?.local ?? { address: '', port: 0 }
  const v4 = address.split('.').map(Number)
  // An IPv6 address is sent as zeros. Clients do not use this field.
  return Buffer.from([5, code, 0, 1, ...(v4.length === 4 ? v4 : [0, 0, 0, 0]), port >> 8, port & 255])
}
