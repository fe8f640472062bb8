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

/** What limits count as one client: an IPv4 address, or the /64 that an IPv6 customer has for itself. */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const before = head ? head.split(':') : []
  const after = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0')
  return `${[...before, ...zeros, ...after]
    .slice(0, 4)
    .map(part => Number.parseInt(part, 16).toString(16))
    .join(':')}::`
}
