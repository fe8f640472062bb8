import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Without the ::ffff: prefix of IPv4 clients on a dual-stack listener, and without a zone. */
export const plainAddress = (address: string | undefined): string =>
  address?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '') ?? ''

/** The client's address, valid for the database. If a proxy forwards something else, it is the proxy's address. */
export function clientAddress(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  for (const named of [request.ip, request.socket.remoteAddress]) {
    const address = plainAddress(named)
    if (isIP(address)) return address
  }
  return '0.0.0.0'
}
