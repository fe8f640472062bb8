import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * The client's address as the database takes it: IPv4 clients of a dual-stack listener without their ::ffff: prefix,
 * no zone. Where a proxy in front passes on something that is no address, it is the proxy's own.
 */
export function clientAddress(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  for (const named of [request.ip, request.socket.remoteAddress]) {
    const address = named?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '') ?? ''
    if (isIP(address)) return address
  }
  return '0.0.0.0'
}
