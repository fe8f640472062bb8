import type { VisitorActor } from '../actor.ts'

/** What limits count as one client: an IPv4 address, or an IPv6 customer's /64. */
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

/**
 * The client for limits. Behind a proxy that TRUST_PROXY does not name, it is the forwarded address, so that one
 * visitor's requests do not block all others.
 */
export const limitedClient = ({ ip, forwardedFor }: Pick<VisitorActor, 'ip' | 'forwardedFor'>): string =>
  clientNetwork(forwardedFor ?? ip)
