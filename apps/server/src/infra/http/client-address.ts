import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Without the ::ffff: prefix that IPv4 clients of a dual-stack listener have, and without a zone. */
export const plainAddress = (address: string | undefined): string =>
  address?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '') ?? ''

/**
 * The client's address as the database takes it. Where a proxy in front passes on something that is no address, it is
 * the proxy's own.
 */
export function clientAddress(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  for (const named of [request.ip, request.socket.remoteAddress]) {
    const address = plainAddress(named)
    if (isIP(address)) return address
  }
  return '0.0.0.0'
}
