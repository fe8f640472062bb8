import type { VisitorActor } from '../actor.ts'

/**
 * What limits count as one client: an IPv4 address, or an IPv6 customer's /64. All groups have four digits, so that the
 * texts of one network begin alike.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const before = head ? head.split(':') : []
  const after = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0')
  return `${[...before, ...zeros, ...after]
    .slice(0, 4)
    .map(part => part.padStart(4, '0').toLowerCase())
    .join(':')}::`
}

/** A client, or a network around it that one person may hold whole. Its limits are those of one client, several times. */
export type LimitedNetwork = {
  cidr: string
  /** What its clients' texts begin with. */
  prefix: string
  /** How often a limit for one name or address is reached. Small, so that only several such networks block its owner. */
  timesOne: number
  /** How often a limit for all names together is reached. */
  timesAll: number
}

/**
 * The networks around a client, from the narrower: an IPv4 /24, or an IPv6 /56 and /48, as providers give them to
 * one customer.
 * @param client as `clientNetwork` gives it
 */
export function widerNetworks(client: string): LimitedNetwork[] {
  if (!client.includes(':')) {
    const prefix = client.slice(0, client.lastIndexOf('.') + 1)
    return [{ cidr: `${prefix}0/24`, prefix, timesOne: 3, timesAll: 16 }]
  }
  const groups = client.split(':').slice(0, 4)
  const start = groups.slice(0, 3).join(':')
  const half = groups[3]?.slice(0, 2) ?? ''
  return [
    { cidr: `${start}:${half}00::/56`, prefix: `${start}:${half}`, timesOne: 2, timesAll: 4 },
    { cidr: `${start}::/48`, prefix: `${start}:`, timesOne: 3, timesAll: 16 }
  ]
}

/** The client itself, and the networks around it. */
export const networksOf = (client: string): LimitedNetwork[] => [
  { cidr: client.includes(':') ? `${client}/64` : client, prefix: client, timesOne: 1, timesAll: 1 },
  ...widerNetworks(client)
]

/** The widest of the networks around a client, whose requests share one turn and one lock. */
export const widestNetwork = (client: string): string => widerNetworks(client).at(-1)?.cidr ?? client

/**
 * The client for limits. Behind a proxy that TRUST_PROXY does not name, it is the forwarded address, so that one
 * visitor's requests do not block all others.
 */
export const limitedClient = ({ ip, forwardedFor }: Pick<VisitorActor, 'ip' | 'forwardedFor'>): string =>
  clientNetwork(forwardedFor ?? ip)
