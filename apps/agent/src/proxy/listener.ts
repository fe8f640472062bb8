import { createServer, type Server } from 'node:net'
import { ClientConnection, type Stage } from './connection.ts'
import { HttpStage } from './http-stage.ts'
import type { Plane } from './plane.ts'
import { SocksStage } from './socks-stage.ts'
import { RawSocket } from './raw-socket.ts'

const SOCKS5 = 5

/** A new connection: the first byte tells SOCKS5 from HTTP. */
class FirstByteStage implements Stage {
  readonly #connection: ClientConnection
  readonly #since: number

  constructor(connection: ClientConnection) {
    this.#connection = connection
    this.#since = connection.plane.now
  }

  clientData(chunk: Buffer): void {
    const connection = this.#connection
    connection.stage = chunk[0] === SOCKS5 ? new SocksStage(connection) : new HttpStage(connection)
    connection.stage.clientData(chunk)
  }

  clientEnd(): void {
    this.#connection.destroy()
  }

  tick(now: number): void {
    if (now - this.#since > this.#connection.plane.limits.headMs) this.#connection.destroy()
  }

  closed(): void {}
  remoteData(): void {}
  remoteEnd(): void {}
  remoteDrain(): void {}
  remoteGone(): void {}
}

const firstStage = (connection: ClientConnection): Stage => new FirstByteStage(connection)

export type ListenResult = { ok: true; servers: Server[]; port: number } | { ok: false; host: string; code: string }

const bind = (plane: Plane, host: string, port: number, shared: boolean): Promise<Server | string> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, backlog: 4096, reusePort: shared, ipv6Only: false }, () => {
      RawSocket.accept(server, rawSocket => ClientConnection.accept(plane, rawSocket, firstStage))
      resolve(server)
    })
  })

/**
 * Listens on each host. `::` takes IPv4 too, and becomes `0.0.0.0` on machines without IPv6. `shared`: other processes
 * listen on the same port. Port 0 lets the system choose one (the same for all hosts).
 */
export async function listenProxy(
  plane: Plane,
  hosts: readonly string[],
  port: number,
  shared: boolean
): Promise<ListenResult> {
  const servers: Server[] = []
  let chosen = port
  for (const host of hosts) {
    let bound = await bind(plane, host, chosen, shared)
    if (host === '::' && (bound === 'EAFNOSUPPORT' || bound === 'EADDRNOTAVAIL')) {
      bound = await bind(plane, '0.0.0.0', chosen, shared)
    }
    if (typeof bound === 'string') {
      for (const server of servers) server.close()
      return { ok: false, host, code: bound }
    }
    servers.push(bound)
    const address = bound.address()
    if (address !== null && typeof address !== 'string') chosen = address.port
  }
  return { ok: true, servers, port: chosen }
}
