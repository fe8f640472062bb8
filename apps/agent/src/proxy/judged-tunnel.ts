import { parseAddress } from '../net/ip.ts'
import { looksLikeTls, readClientHello } from './client-hello.ts'
import type { ClientConnection, Stage } from './connection.ts'
import type { Lease } from './access-table.ts'
import { RequestNames } from './request-names.ts'
import type { RawSocket } from './raw-socket.ts'
import { TunnelStage } from './tunnel-stage.ts'

/**
 * Joins a client and its target. Where names are denied to the user, what the client shows inside decides as well: see
 * docs/adr/agent-names-inside-tunnels.md. `finished` runs once, when the tunnel is over.
 */
export function openTunnel(
  connection: ClientConnection,
  remote: RawSocket,
  asked: string,
  finished: (note: string) => void
): Stage {
  const tunnel = new TunnelStage(connection, remote, finished)
  const { lease, plane } = connection
  const judged = lease !== null && (lease.deny.hasNames || plane.accessTable.blacklist.hasNames)
  return judged ? new JudgedTunnel(connection, tunnel, lease, asked) : tunnel
}

/** A tunnel whose client has not shown yet which site it wants, or goes on showing it with each request. */
class JudgedTunnel implements Stage {
  readonly #connection: ClientConnection
  readonly #tunnel: TunnelStage
  readonly #lease: Lease
  readonly #asked: string
  /** The beginning of a hello, until it is whole. */
  #pending: Buffer | null = null
  #since = 0
  #requests: RequestNames | null = null

  constructor(connection: ClientConnection, tunnel: TunnelStage, lease: Lease, asked: string) {
    this.#connection = connection
    this.#tunnel = tunnel
    this.#lease = lease
    this.#asked = asked
  }

  clientData(chunk: Buffer): void {
    if (this.#requests !== null) return this.#followRequests(this.#requests, chunk)
    if (this.#pending === null) this.#since = this.#connection.plane.now
    const bytes = this.#pending === null ? chunk : Buffer.concat([this.#pending, chunk])
    this.#pending = null
    if (looksLikeTls(bytes)) this.#judgeHello(bytes)
    else this.#followRequests((this.#requests = new RequestNames()), bytes)
  }

  #judgeHello(bytes: Buffer): void {
    const hello = readClientHello(bytes)
    if (hello.kind === 'more') return this.#wait(bytes)
    if (hello.kind === 'malformed' || hello.name === null) return this.#refuse('hidden-name')
    if (this.#denies(hello.name)) return this.#refuse('denied-name')
    if (hello.encrypted && this.#hides(hello.name)) return this.#refuse('hidden-name')
    this.#pass(bytes)
  }

  /** Whether a hello that may hold a second name shows one that is known to stand for others. */
  #hides(name: string): boolean {
    if (this.#connection.plane.echNames.has(name)) return true
    return parseAddress(this.#asked) === null && name !== this.#asked
  }

  #followRequests(requests: RequestNames, chunk: Buffer): void {
    const denied = requests.read(chunk).some(name => this.#denies(name))
    if (requests.protocol === 'http2') return this.#refuse('hidden-name')
    if (requests.protocol === 'other') return this.#unnamed() ? this.#refuse('denied-address') : this.#pass(chunk)
    if (denied) return this.#refuse('denied-name')
    if (requests.headEnded && !requests.named && this.#unnamed()) return this.#refuse('denied-address')
    this.#tunnel.clientData(chunk)
  }

  #denies(name: string): boolean {
    return this.#lease.deny.deniesName(name) || this.#connection.plane.accessTable.blacklist.deniesName(name)
  }

  /** Whether an address was asked for that a denied name stands for, and nothing tells that another site is meant. */
  #unnamed(): boolean {
    return this.#connection.plane.addressNames.of(this.#asked).some(name => this.#denies(name))
  }

  /** A copy: the next read may overwrite the piece (`zeroCopy`). */
  #wait(bytes: Buffer): void {
    this.#pending = Buffer.from(bytes)
  }

  #pass(bytes: Buffer): void {
    this.#connection.stage = this.#tunnel
    this.#tunnel.clientData(bytes)
  }

  #refuse(note: string): void {
    this.#pending = null
    this.#tunnel.break(note)
  }

  clientEnd(): void {
    // Too short to be a hello or a request, and now it stays so.
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
  }

  remoteEnd(): void {
    this.#tunnel.remoteEnd()
  }

  remoteDrain(): void {
    this.#tunnel.remoteDrain()
  }

  remoteGone(): void {
    this.#tunnel.remoteGone()
  }

  closed(): void {
    this.#tunnel.closed()
  }
}
