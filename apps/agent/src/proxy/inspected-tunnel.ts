import type { AgentCode } from '@netlet/contract/agent-codes'
import { parseAddress } from '../net/ip.ts'
import { HANDSHAKE, HelloRetry, isOtherRecord, looksLikeTls, readClientHello } from './client-hello.ts'
import type { ClientConnection, Stage } from './connection.ts'
import type { Lease } from './access-table.ts'
import type { RequestHead } from './request-head.ts'
import { RequestNames } from './request-names.ts'
import type { RawSocket } from './socket-types.ts'
import { TunnelStage } from './tunnel-stage.ts'

/** Bytes examined in one go: at most a millisecond of work, even if every line holds a name. */
const SLICE = 8192

/**
 * Joins a client and its target. If the user has denied names, the content of the tunnel is inspected too, see
 * docs/adr/agent-names-inside-tunnels.md. `finished` runs once, when the tunnel ends.
 */
export function openTunnel(
  connection: ClientConnection,
  remote: RawSocket,
  asked: string,
  finished: (note: AgentCode) => void
): Stage {
  const tunnel = new TunnelStage(connection, remote, finished)
  const { lease, plane } = connection
  const isInspected = lease !== null && (plane.present(lease).deny.hasNames || plane.accessTable.blacklist.hasNames)
  return isInspected ? new InspectedTunnel(connection, tunnel, lease, asked) : tunnel
}

type Begun = { head: RequestHead | null; startedAt: number; target: string; isUpgrade: boolean }

/** The tunnel of a CONNECT request or an upgrade, whose site is known from its request. Its end writes the log line. */
export function startTunnel(
  connection: ClientConnection,
  remote: RawSocket,
  { head, startedAt, target, isUpgrade }: Begun
): Stage {
  const finished = (note: AgentCode): void => {
    const ms = Math.round(performance.now() - startedAt)
    const { up } = connection
    const down = connection.socket.bytesWritten
    connection.countRequest(note)
    connection.log({ what: head?.method ?? '-', target, status: isUpgrade ? 101 : 200, up, down, ms, note })
  }
  return isUpgrade
    ? new TunnelStage(connection, remote, finished)
    : openTunnel(connection, remote, head?.to.host ?? '', finished)
}

/** A tunnel whose client has not shown its site yet, or shows one with each request. */
class InspectedTunnel implements Stage {
  readonly #connection: ClientConnection
  readonly #tunnel: TunnelStage
  readonly #lease: Lease
  readonly #asked: string
  /** An incomplete hello or record head. */
  #pending: Buffer | null = null
  #since = 0
  #requests: RequestNames | null = null
  /** Set after the first hello. */
  #retry: HelloRetry | null = null
  /** Bytes for a later turn. Until then nothing is read. */
  #rest: Buffer | null = null
  #ended = false

  constructor(connection: ClientConnection, tunnel: TunnelStage, lease: Lease, asked: string) {
    this.#connection = connection
    this.#tunnel = tunnel
    this.#lease = lease
    this.#asked = asked
    connection.shownName = null
  }

  clientData(chunk: Buffer): void {
    if (this.#rest !== null) this.#keepForLater(Buffer.concat([this.#rest, chunk]), chunk.length)
    else if (this.#requests !== null) this.#followRequests(this.#requests, chunk)
    else this.#begin(this.#withPending(chunk))
  }

  #withPending(chunk: Buffer): Buffer {
    if (this.#pending === null) this.#since = this.#connection.plane.now
    const bytes = this.#pending === null ? chunk : Buffer.concat([this.#pending, chunk])
    this.#pending = null
    return bytes
  }

  #begin(bytes: Buffer): void {
    if (this.#retry !== null) this.#followRecords(this.#retry, bytes)
    else if (looksLikeTls(bytes)) this.#inspectHello(bytes)
    else this.#followRequests((this.#requests = new RequestNames()), bytes)
  }

  #inspectHello(bytes: Buffer): void {
    const hello = readClientHello(bytes)
    if (hello.kind === 'more') return this.#keep(bytes)
    if (hello.kind === 'malformed' || hello.name === null) return this.#refuse('hidden-name')
    if (this.#denies(hello.name)) return this.#refuse('denied-name')
    if (hello.encrypted && this.#hides(hello.name)) return this.#refuse('hidden-name')
    // The second hello must show the same name (RFC 8446 4.1.2).
    if (this.#retry !== null)
      return this.#connection.shownName === hello.name ? this.#pass(bytes) : this.#refuse('hidden-name')
    this.#connection.shownName = hello.name
    this.#tunnel.clientData(bytes.subarray(0, hello.length))
    this.#followRecords((this.#retry = new HelloRetry()), bytes.subarray(hello.length))
  }

  /** Passes records on. A second hello is inspected. */
  #followRecords(retry: HelloRetry, bytes: Buffer): void {
    const open = retry.skipOtherRecords(bytes)
    if (open > 0) this.#tunnel.clientData(bytes.subarray(0, open))
    const rest = bytes.subarray(open)
    if (rest.length === 0) return
    if (rest[0] === HANDSHAKE) this.#inspectHello(rest)
    else if (isOtherRecord(rest[0])) this.#keep(rest)
    else this.#refuse('hidden-name')
  }

  /** Whether the shown name of an encrypted hello is known to stand for other names. */
  #hides(name: string): boolean {
    if (this.#connection.plane.echNames.has(name)) return true
    return parseAddress(this.#asked) === null && name !== this.#asked
  }

  #followRequests(requests: RequestNames, chunk: Buffer): void {
    const { owner, plane } = this.#connection
    for (let from = 0; from < chunk.length; from += SLICE) {
      if (plane.turns.isOver(owner)) return this.#wait(chunk.subarray(from))
      const slice = chunk.subarray(from, from + SLICE)
      const why = this.#refusalOf(requests, slice)
      if (why !== null) return this.#refuse(why)
      if (requests.protocol === 'other') {
        this.#connection.shownName = undefined
        return this.#pass(chunk.subarray(from))
      }
      this.#tunnel.clientData(slice)
    }
  }

  #refusalOf(requests: RequestNames, slice: Buffer): AgentCode | null {
    const denied = requests.read(slice).some(name => this.#denies(name))
    if (requests.hidden) return 'hidden-name'
    if (denied) return 'denied-name'
    if (requests.protocol === 'other') return this.#unnamed() ? 'denied-address' : null
    const isDue = requests.headEnded || requests.protocol === 'maybe-http'
    return isDue && !requests.named && this.#unnamed() ? 'denied-address' : null
  }

  /** Continues in a later turn of the loop, on a copy, because the next read may overwrite the chunk (`zeroCopy`). */
  #wait(rest: Buffer): void {
    const { socket, plane, owner, guarded } = this.#connection
    this.#keepForLater(Buffer.from(rest), rest.length)
    socket.pause()
    plane.turns.later(owner, () => guarded(() => this.#goOn()))
  }

  /** The bytes do not count as traffic while they wait, because the connection may end first. */
  #keepForLater(rest: Buffer, added: number): void {
    this.#rest = rest
    this.#connection.undelivered += added
  }

  #goOn(): void {
    const { socket, remote, gone } = this.#connection
    const rest = this.#rest
    if (gone || rest === null || this.#requests === null) return
    this.#rest = null
    this.#connection.undelivered -= rest.length
    this.#followRequests(this.#requests, rest)
    if (this.#rest !== null || this.#connection.gone) return
    if (this.#ended) this.#tunnel.clientEnd()
    else if (remote?.unsent === 0) socket.resume()
  }

  #denies(name: string): boolean {
    const { plane } = this.#connection
    // A tunnel may last for months, so the present rules apply.
    return plane.present(this.#lease).deny.deniesName(name) || plane.accessTable.blacklist.deniesName(name)
  }

  /** Whether the requested address belongs to a denied name, and nothing shows that another site is meant. */
  #unnamed(): boolean {
    return this.#connection.plane.addressNames.of(this.#asked).some(name => this.#denies(name))
  }

  /** A copy, because the next read may overwrite the chunk (`zeroCopy`). */
  #keep(bytes: Buffer): void {
    this.#pending = Buffer.from(bytes)
  }

  #pass(bytes: Buffer | null): void {
    this.#pending = null
    this.#connection.stage = this.#tunnel
    if (bytes !== null) this.#tunnel.clientData(bytes)
  }

  #refuse(note: AgentCode): void {
    this.#pending = null
    this.#tunnel.break(note)
  }

  clientEnd(): void {
    if (this.#rest !== null) {
      this.#ended = true
      return
    }
    // The bytes are too short for a hello or a request, and no more follow.
    if (this.#pending !== null) this.#tunnel.clientData(this.#pending)
    this.#pending = null
    this.#tunnel.clientEnd()
  }

  tick(now: number): void {
    if (this.#pending !== null && now - this.#since > this.#connection.plane.limits.headMs) this.#refuse('slow-head')
    else this.#tunnel.tick(now)
  }

  remoteData(chunk: Buffer): void {
    this.#tunnel.remoteData(chunk)
    this.#retry?.readAnswer(chunk)
    if (this.#retry?.asked === false) this.#pass(this.#pending)
  }

  remoteEnd(): void {
    this.#tunnel.remoteEnd()
  }

  remoteDrain(): void {
    if (this.#rest === null) this.#tunnel.remoteDrain()
  }

  remoteGone(): void {
    this.#tunnel.remoteGone()
  }

  closed(): void {
    this.#tunnel.closed()
  }

  setEndNote(note: AgentCode): void {
    this.#tunnel.setEndNote(note)
  }
}
