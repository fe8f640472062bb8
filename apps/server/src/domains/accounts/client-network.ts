import type { VisitorActor } from '../../infra/actor.ts'

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

/**
 * Whom a limit counts as one client. Behind a proxy that TRUST_PROXY does not name it is whom that proxy forwards for: one
 * visitor's requests must not stop all others.
 */
export const limitedClient = ({ ip, forwardedFor }: Pick<VisitorActor, 'ip' | 'forwardedFor'>): string =>
  clientNetwork(forwardedFor ?? ip)
