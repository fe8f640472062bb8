import { BlockList, isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { VisitorActor } from '../actor.ts'
import type { Log } from '../log.ts'

/** Without the ::ffff: prefix of IPv4 clients on a dual-stack listener, and without a zone. */
const plainAddress = (address: string | undefined): string =>
  address?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '') ?? ''

/** The client's address, valid for the database. If a proxy forwards something else, it is the proxy's address. */
export function clientAddress(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  for (const named of [request.ip, request.socket.remoteAddress]) {
    const address = plainAddress(named)
    if (isIP(address)) return address
  }
  return '0.0.0.0'
}

/** Local networks: no customer comes from one, but a reverse proxy may. */
const LOCAL = new BlockList()
for (const [net, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10]
] as const)
  LOCAL.addSubnet(net, prefix, 'ipv4')
LOCAL.addAddress('::1', 'ipv6')
LOCAL.addSubnet('fc00::', 7, 'ipv6')
LOCAL.addSubnet('fe80::', 10, 'ipv6')

type Peer = Pick<FastifyRequest, 'ip' | 'socket' | 'headers'>

/** The peer's address if it is local and forwards for others, and so is a proxy that TRUST_PROXY should name. */
export function untrustedProxyOf({ ip, socket, headers }: Peer): string | null {
  const peer = plainAddress(socket.remoteAddress)
  const trusted = plainAddress(ip) !== peer
  if (!peer || trusted || headers['x-forwarded-for'] === undefined) return null
  return LOCAL.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4') ? peer : null
}

/**
 * The client of such a proxy, from the last entry of the header, which the proxy itself wrote. It only separates
 * clients for limits. It never identifies one, because the proxy may pass on what its client invented.
 */
export function forwardedClient(request: Peer): string | null {
  if (untrustedProxyOf(request) === null) return null
  const header = request.headers['x-forwarded-for']
  const last = plainAddress(String(header).split(',').at(-1)?.trim())
  return last && isIP(last) ? last : null
}

/** The warning at the start, or null. The shop speaks no TLS, so an https address means a proxy in front. */
export function unnamedProxyWarning({ publicUrl, trustProxy }: { publicUrl: string; trustProxy: string | false }) {
  if (trustProxy !== false || !publicUrl.startsWith('https:')) return null
  return `PUBLIC_URL is ${publicUrl}, so a reverse proxy stands in front, and TRUST_PROXY names none: limits cannot tell its visitors apart for certain, and sessions and the audit log show its address for all of them. Set TRUST_PROXY to its address.`
}

const MOST_PEERS = 20
const seen = new Map<string, Date>()

/** The untrusted proxies of this process, with the last time. */
export const untrustedProxies = (): { address: string; at: Date }[] =>
  [...seen].map(([address, at]) => ({ address, at }))

/** What monitors ask, which are no reverse proxies even if they say for whom they ask. */
const PROBES = /^\/(?:healthz|readyz|metrics)\b/

/** Records reverse proxies that TRUST_PROXY does not name, and logs each once. */
export function watchForProxies(app: FastifyInstance, log: Log): void {
  app.addHook('onRequest', async request => {
    const peer = untrustedProxyOf(request)
    if (peer === null || PROBES.test(request.url)) return
    if (!seen.has(peer)) {
      if (seen.size >= MOST_PEERS) return
      log.warn(
        { peer },
        `${peer} forwards requests of others, and TRUST_PROXY does not name it: sessions and the audit log show its address for every visitor. Set TRUST_PROXY=${peer} if it is your reverse proxy.`
      )
    }
    seen.set(peer, new Date())
  })
}

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
type LimitedNetwork = {
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
