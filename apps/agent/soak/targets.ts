import { createSocket } from 'node:dgram'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { piece } from './wire.ts'

/** Ports of the targets on 127.0.0.1. */
export type Targets = { http: number; echo: number; bulk: number; udp: number; close: () => Promise<void> }

const listening = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/**
 * What clients reach: `GET /from/count` answers with that piece, other requests with the digest of their body; one that echoes,
 * one that sends without end, and one for datagrams.
 */
export async function startTargets(): Promise<Targets> {
  const http = createHttp((request, reply) => {
    const [, from = 0, count = 0] = (request.url ?? '').split('/').map(Number)
    if (request.method === 'GET') return reply.end(piece(from, count))
    const digest = createHash('sha256')
    request.on('data', (chunk: Buffer) => digest.update(chunk))
    request.on('end', () => reply.end(digest.digest('hex')))
  })
  // Connections to it are the agent's to end.
  http.keepAliveTimeout = 60_000
  const echo = createServer({ allowHalfOpen: true }, socket => {
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  const bulk = createServer(socket => {
    const pump = (): void => {
      while (!socket.destroyed && socket.write(piece(0, 65_536)));
    }
    socket
      .on('error', () => {})
      .on('drain', pump)
      .resume()
    pump()
  })
  const udp = createSocket('udp4')
  udp.on('message', (data, from) => udp.send(data, from.port, from.address))
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const servers = [http, echo, bulk]
  const sockets = new Set<{ destroy: () => unknown }>()
  for (const server of servers) {
    server.on('connection', socket => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
  }
  const close = async (): Promise<void> => {
    udp.close()
    for (const socket of sockets) socket.destroy()
    await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  }
  const [httpPort = 0, echoPort = 0, bulkPort = 0] = await Promise.all(servers.map(listening))
  return { http: httpPort, echo: echoPort, bulk: bulkPort, udp: udp.address().port, close }
}
