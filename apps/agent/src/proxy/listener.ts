import type { Server } from 'node:net'
import { BACKLOG, type ListenHandle, type Listener } from '../net/listen-handle.ts'
import type { SecureContext } from 'node:tls'
import type { AgentCode } from '@netlet/contract/agent-codes'
import { helloState } from './client-hello.ts'
import { ClientConnection, type Stage } from './connection.ts'
import { DrainStage } from './drain-stage.ts'
import { HttpStage } from './http-stage.ts'
import type { Plane } from './plane.ts'
import { SocksStage } from './socks-stage.ts'

const SOCKS4 = 4
const SOCKS4_REFUSED = Buffer.from([0, 0x5b, 0, 0, 0, 0, 0, 0])
const SOCKS5 = 5
/** First byte of a TLS handshake. */
const TLS = 22
/** Real hellos take about 2 KB. */
const MAX_PROXY_HELLO = 16_384

/** A new connection. Its first byte tells TLS, SOCKS5 and HTTP apart, and inside TLS the next first byte again. */
class FirstByteStage implements Stage {
  readonly #connection: ClientConnection
  readonly #since: number
  #secured = false
  /** Beginning of a TLS client's first message. No TLS state exists until it is complete. */
  #hello: Buffer | null = null
  #note: AgentCode = 'tls-failed'

  constructor(connection: ClientConnection) {
    this.#connection = connection
    this.#since = connection.plane.now
  }

  clientData(chunk: Buffer): void {
    const connection = this.#connection
    const { secureContext } = connection.plane
    if (secureContext !== null && !this.#secured && (this.#hello !== null || chunk[0] === TLS)) {
      return this.#readHello(secureContext, chunk)
    }
    if (chunk[0] === SOCKS4) return this.#refuseSocks4()
    connection.stage = chunk[0] === SOCKS5 ? new SocksStage(connection) : new HttpStage(connection)
    connection.stage.clientData(chunk)
  }

  /** The handshake counts toward the deadline of the first byte. */
  #readHello(context: SecureContext, chunk: Buffer): void {
    const connection = this.#connection
    const { handshakes } = connection.plane
    if (this.#hello === null) handshakes.begin(connection)
    const bytes = this.#hello === null ? chunk : Buffer.concat([this.#hello, chunk])
    const state = helloState(bytes)
    // A copy, because the next read may overwrite the chunk (`zeroCopy`).
    this.#hello = state === 'more' ? Buffer.from(bytes) : Buffer.alloc(0)
    if (state === 'malformed' || this.#hello.length > MAX_PROXY_HELLO) return connection.destroy()
    if (state === 'more') return
    if (!handshakes.allows(connection.clientText)) {
      this.#note = 'tls-too-fast'
      return connection.destroy()
    }
    this.#secured = true
    connection.secure(context, bytes)
  }

  /** SOCKS4 has no passwords. The refusal uses its own format, so that programs can show it. */
  #refuseSocks4(): void {
    const connection = this.#connection
    connection.countRequest('socks4')
    connection.log({
      what: 'SOCKS4',
      target: '-',
      status: 400,
      up: 0,
      down: SOCKS4_REFUSED.length,
      ms: 0,
      note: 'socks4'
    })
    DrainStage.close(connection, SOCKS4_REFUSED)
  }

  clientEnd(): void {
    this.#connection.destroy()
  }

  tick(now: number): void {
    if (now - this.#since > this.#connection.plane.limits.headMs) this.#connection.destroy()
  }

  closed(): void {
    if (this.#hello === null) return
    const status = STATUSES[this.#note] ?? 500
    this.#connection.countRequest(this.#note)
    this.#connection.log({ what: 'TLS', target: '-', status, up: 0, down: 0, ms: 0, note: this.#note })
  }

  setEndNote(note: AgentCode): void {
    this.#note = note
  }

  remoteData(): void {}
  remoteEnd(): void {}
  remoteDrain(): void {}
  remoteGone(): void {}
}

/** Status of failed TLS. Any other end is an internal error. */
const STATUSES: Partial<Record<AgentCode, number>> = { 'tls-failed': 400, 'tls-too-fast': 429 }

export const firstStage = (connection: ClientConnection): Stage => new FirstByteStage(connection)

/** A server with the host it was asked for. */
export type Listening = { host: string; server: Server }
export type ListenResult = { ok: true; servers: Listening[]; port: number } | { ok: false; host: string; code: string }

type Place = { host: string; port: number; shared: boolean } | ListenHandle

const bind = (plane: Plane, place: Place): Promise<Server | string> =>
  new Promise(resolve => {
    const server = plane.sockets.createServer(rawSocket => ClientConnection.accept(plane, rawSocket, firstStage))
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    const listening = (): void => resolve(server)
    if (!('host' in place)) server.listen(place, BACKLOG, listening)
    else {
      const { host, port, shared } = place
      server.listen({ host, port, backlog: BACKLOG, reusePort: shared, ipv6Only: false }, listening)
    }
  })

/**
 * Listens on each host. `::` includes IPv4, and becomes `0.0.0.0` on machines without IPv6. `shared`: other processes listen
 * on the same port. Port 0: the system chooses one port for all hosts. `opened`: sockets of a previous process, which
 * replace new ones for their host.
 */
export async function listenProxy(
  plane: Plane,
  hosts: readonly string[],
  port: number,
  shared: boolean,
  opened: readonly Listener[] = []
): Promise<ListenResult> {
  const servers: Listening[] = []
  let chosen = port
  for (const host of hosts) {
    const own = opened.filter(listener => listener.host === host)
    const places: Place[] = own.length > 0 ? own.map(({ handle }) => handle) : [{ host, port: chosen, shared }]
    for (const place of places) {
      let bound = await bind(plane, place)
      if ('host' in place && host === '::' && (bound === 'EAFNOSUPPORT' || bound === 'EADDRNOTAVAIL')) {
        bound = await bind(plane, { ...place, host: '0.0.0.0' })
      }
      if (typeof bound === 'string') {
        for (const { server } of servers) server.close()
        return { ok: false, host, code: bound }
      }
      servers.push({ host, server: bound })
      const address = bound.address()
      if (address !== null && typeof address !== 'string') chosen = address.port
    }
  }
  return { ok: true, servers, port: chosen }
}
