import type { AgentCode } from '@netlet/contract/agent-codes'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { formatAddress, parseAddress } from '../net/ip.ts'
import type { ClientConnection, Stage } from './connection.ts'
import { readAddress, writeAddress } from './socks-address.ts'
import { findUdpTarget, hidesName, refusalOf, type UdpTarget } from './udp-target.ts'

/** Targets remembered per association. Answers from other addresses are dropped. */
const MAX_TARGETS = 256
/** If there are too many targets, one that was silent this long is dropped. */
const REPLACEABLE_MS = 10_000
/** A target silent for this long is forgotten, and its answers are dropped. */
const TARGET_IDLE_MS = 60_000
/** How long a refusal holds before the target is judged again. By that time the name may resolve, or the rule be gone. */
const REFUSED_MS = 2000
/** Names asked for at once, and datagrams that wait for each. */
const MAX_ASKING = 32
const MAX_WAITING = 4
/** Bytes of all datagrams of an association that wait for names. */
const MAX_WAITING_BYTES = 65_536
/** Bytes queued for the network in each direction. Further datagrams are lost. All buffers together stay below 400 KB. */
const MAX_QUEUED = 98_304
/** Least bytes counted per datagram: its IP and UDP headers. Empty datagrams must not be free. */
const LEAST_COUNTED = 28
/** Silence of the client's port before another port of its address may replace it. */
const PORT_SILENCE_MS = { answered: 3000, unanswered: 1000 }
const HEADER = Buffer.from([0, 0, 0])

/** SOCKS5 UDP ASSOCIATE (RFC 1928): relays datagrams between a client and its targets while the TCP connection is open. */
export class UdpStage implements Stage {
  readonly #connection: ClientConnection
  readonly #user: string
  readonly #finished: (note: AgentCode) => void
  readonly #relay: Socket
  readonly #out: Socket
  readonly #targets = new Map<string, UdpTarget>()
  /** Targets that datagrams were sent to, by address and port. */
  readonly #byAddress = new Map<string, UdpTarget>()
  /** The client's declared port, or that of its first datagram. 0: not known yet. */
  #clientPort: number
  readonly #declaredPort: number
  /** Whether the port got an answer, and whether a second port was logged. */
  #answered = false
  #portsTold = false
  #asking = 0
  #waitingBytes = 0
  #usedAt: number
  #note: AgentCode = 'ok'
  #closed = false
  /** Whether silent targets wait to be forgotten. */
  #isForgetting = false

  private constructor(connection: ClientConnection, clientPort: number, finished: (note: AgentCode) => void) {
    this.#connection = connection
    this.#clientPort = this.#declaredPort = clientPort
    this.#finished = finished
    this.#usedAt = connection.plane.now
    const type = connection.egress.address.v4 >= 0 ? 'udp4' : 'udp6'
    // All hosts are addresses already, so no lookup is needed.
    const lookup = (
      host: string,
      _options: unknown,
      done: (error: null, address: string, family: number) => void
    ): void => done(null, host, type === 'udp4' ? 4 : 6)
    this.#relay = createSocket({ type, lookup })
    this.#out = createSocket({ type, lookup })
    const user = (this.#user = connection.lease?.user ?? '')
    const { associations, turns } = connection.plane
    associations.opened(user)
    // Datagrams cost far more work than bytes, and each association delivers many at once.
    this.#relay.on('message', (data, from) => {
      if (!turns.isLost(connection.owner)) connection.guarded(() => this.#fromClient(data, from))
    })
    this.#out.on('message', (data, from) => {
      if (!turns.isLost(connection.owner)) connection.guarded(() => this.#fromTarget(data, from))
    })
  }

  /**
   * Opens an association. `opened` gets the port at the leased address that the client sends to, or null if the address cannot
   * be used. `finished` runs once, when the association ends.
   */
  static open(
    connection: ClientConnection,
    clientPort: number,
    opened: (stage: UdpStage, port: number | null) => void,
    finished: (note: AgentCode) => void
  ): UdpStage {
    const stage = new UdpStage(connection, clientPort, finished)
    let left = 2
    // The client always sends to the leased address, even if datagrams leave from another one.
    const places = [
      { socket: stage.#relay, address: connection.egress.text },
      { socket: stage.#out, address: connection.nextExit().text }
    ]
    for (const { socket, address } of places) {
      // The first socket failed, and both are closed.
      if (left < 0) break
      socket.on('error', () => {
        if (left === 0) connection.destroy()
        if (left <= 0) return
        left = -1
        stage.abandon()
        connection.guarded(() => opened(stage, null))
      })
      socket.bind({ address, port: 0, exclusive: true }, () => {
        if (--left === 0 && !connection.gone) connection.guarded(() => opened(stage, stage.#relay.address().port))
      })
    }
    return stage
  }

  /** Closes the sockets of an association. */
  abandon(): void {
    if (this.#closed) return
    this.#closed = true
    this.#connection.plane.associations.closed(this.#user)
    this.#relay.close()
    this.#out.close()
  }

  #fromClient(message: Buffer, from: RemoteInfo): void {
    const connection = this.#connection
    if (!sameAddress(from.address, connection.clientText)) return
    // RFC 1928 allows fragments to be dropped.
    if (message[2] !== 0) return
    const to = readAddress(message, 3)
    if (typeof to === 'string' || to.port === 0) return
    if (this.#clientPort !== 0 && this.#clientPort !== from.port && !this.#replacesPort(from.port)) return
    this.#clientPort = from.port
    this.#usedAt = connection.plane.now
    const data = message.subarray(to.end)
    if (hidesName(connection, data)) return
    const target = this.#knownTarget(to.host, to.port) ?? this.#newTarget(to.host, to.port)
    if (target === null || target.refused !== null) return
    target.usedAt = connection.plane.now
    if (target.address !== null) this.#send(target, data)
    else this.#keep(target, data)
  }

  /**
   * Whether another port of the client's address replaces the known one: NAT gave the client a new port, or a neighbour's
   * datagram came first. Answers to the old port's datagrams do not reach the new port.
   */
  #replacesPort(port: number): boolean {
    const connection = this.#connection
    const { now } = connection.plane
    if (!this.#portsTold) {
      this.#portsTold = true
      connection.log({ what: 'UDP', target: '-', status: 409, up: 0, down: 0, ms: 0, note: 'udp-two-ports' })
    }
    const rest = this.#answered ? PORT_SILENCE_MS.answered : PORT_SILENCE_MS.unanswered
    if (this.#declaredPort !== 0 || now - this.#usedAt < rest) return false
    for (const target of this.#targets.values()) this.#forget(target, now)
    this.#clientPort = port
    this.#answered = false
    return true
  }

  #keep(target: UdpTarget, data: Buffer): void {
    if (target.waiting.length >= MAX_WAITING || this.#waitingBytes + data.length > MAX_WAITING_BYTES) return
    this.#waitingBytes += data.length
    target.waiting.push(Buffer.from(data))
  }

  #knownTarget(host: string, port: number): UdpTarget | undefined {
    const { now } = this.#connection.plane
    const target = this.#targets.get(`${host}:${port}`)
    if (target === undefined || target.refused === null || now - target.since <= REFUSED_MS) return target
    this.#forget(target, now)
    return undefined
  }

  #newTarget(host: string, port: number): UdpTarget | null {
    const { now } = this.#connection.plane
    if (this.#asking >= MAX_ASKING || !this.#makeRoom(now)) return null
    const target: UdpTarget = {
      host,
      port,
      address: null,
      refused: null,
      waiting: [],
      up: 0,
      down: 0,
      since: now,
      usedAt: now
    }
    const key = `${host}:${port}`
    this.#targets.set(key, target)
    this.#asking++
    findUdpTarget(this.#connection, host, port, result => {
      this.#asking--
      for (const { length } of target.waiting) this.#waitingBytes -= length
      // The target may have been dropped already.
      if (this.#targets.get(key) !== target) return
      if (typeof result !== 'string') target.refused = result
      else {
        target.address = result
        this.#byAddress.set(addressKey(result, port), target)
        for (const data of target.waiting) this.#send(target, data)
      }
      target.waiting = []
    })
    return target
  }

  #makeRoom(now: number): boolean {
    if (this.#targets.size < MAX_TARGETS) return true
    let oldest: UdpTarget | null = null
    for (const target of this.#targets.values()) if (oldest === null || target.usedAt < oldest.usedAt) oldest = target
    if (oldest === null || now - oldest.usedAt < REPLACEABLE_MS) return false
    this.#forget(oldest, now)
    return true
  }

  #send(target: UdpTarget, data: Buffer): void {
    if (target.address === null || this.#out.getSendQueueSize() > MAX_QUEUED) return
    const counted = Math.max(data.length, LEAST_COUNTED)
    if (!this.#connection.mayPass('up', counted)) return
    target.up += counted
    const { lease, plane } = this.#connection
    if (lease !== null && target.down === 0) plane.abuse.dials(lease.user, `${target.host}:${target.port}`, plane.now)
    this.#connection.udpUp += counted
    this.#out.send(data, target.port, target.address, ignore)
  }

  #fromTarget(data: Buffer, from: RemoteInfo): void {
    const target = this.#byAddress.get(addressKey(from.address, from.port))
    if (target === undefined || this.#clientPort === 0 || this.#relay.getSendQueueSize() > MAX_QUEUED) return
    const counted = Math.max(data.length, LEAST_COUNTED)
    if (!this.#connection.mayPass('down', counted)) return
    this.#usedAt = target.usedAt = this.#connection.plane.now
    this.#answered = true
    target.down += counted
    this.#connection.udpDown += counted
    const header = [HEADER, writeAddress(from.address, from.port)]
    this.#relay.send([...header, data], this.#clientPort, this.#connection.clientText, ignore)
  }

  /** Forgets a target and writes its log line. */
  #forget(target: UdpTarget, now: number): void {
    this.#targets.delete(`${target.host}:${target.port}`)
    if (target.address !== null) {
      const key = addressKey(target.address, target.port)
      if (this.#byAddress.get(key) === target) this.#byAddress.delete(key)
    }
    const silent: AgentCode = target.address === null ? 'client-left' : 'no-answer'
    const { status, code } = target.refused ?? { status: 200, code: target.down === 0 ? silent : 'ok' }
    const ms = Math.round(now - target.since)
    const to = `${target.host}:${target.port}`
    this.#connection.countRequest(code)
    this.#connection.log({ what: 'UDP', target: to, status, up: target.up, down: target.down, ms, note: code })
  }

  /**
   * Forgets targets in several turns of the loop. Each has a log line, and a hundred thousand targets of a user's associations may
   * end at once.
   */
  #forgetAll(isToGo: (target: UdpTarget) => boolean): void {
    const { plane, owner, guarded } = this.#connection
    this.#isForgetting = false
    for (const target of this.#targets.values()) {
      if (!isToGo(target)) continue
      // At least one per turn, so that it finishes.
      this.#forget(target, plane.now)
      if (!plane.turns.isOver(owner)) continue
      this.#isForgetting = true
      return plane.turns.later(owner, () => guarded(() => this.#forgetAll(isToGo)))
    }
  }

  tick(now: number): void {
    const { idleMs } = this.#connection.plane.limits
    const before = now - Math.min(TARGET_IDLE_MS, idleMs)
    if (!this.#isForgetting) this.#forgetAll(target => target.usedAt < before)
    if (now - this.#usedAt <= idleMs) return
    this.#note = 'idle'
    this.#connection.socket.closeWhenSent()
  }

  judgeAgain(): void {
    for (const target of this.#targets.values()) {
      if (target.refused !== null || target.address === null) continue
      target.refused = refusalOf(this.#connection, target)
      // Its answers are dropped too.
      if (target.refused !== null) this.#byAddress.delete(addressKey(target.address, target.port))
    }
  }

  setEndNote(note: AgentCode): void {
    this.#note = note
  }

  /** The TCP connection only has to stay open. Bytes on it are ignored. */
  clientData(chunk: Buffer): void {
    this.#connection.undelivered += chunk.length
  }

  clientEnd(): void {
    this.#connection.socket.closeWhenSent()
  }

  closed(): void {
    this.abandon()
    this.#forgetAll(() => true)
    this.#finished(this.#note)
  }

  remoteData(): void {}
  remoteEnd(): void {}
  remoteDrain(): void {}
  remoteGone(): void {}
}

/** A datagram that cannot be sent is lost, as on the network. */
const ignore = (): void => {}

/** The canonical spelling of an address. */
function normal(text: string): string {
  const address = parseAddress(text.replace(/%.*$/, ''))
  if (address === null) return text
  return address.v4 >= 0 ? formatAddress(4, BigInt(address.v4)) : formatAddress(6, address.v6)
}
const addressKey = (address: string, port: number): string => `${normal(address)} ${port}`
const sameAddress = (a: string, b: string): boolean => a === b || normal(a) === normal(b)
