import { BlockList, isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'
import { plainAddress } from './client-address.ts'

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

/** Records reverse proxies that TRUST_PROXY does not name, and logs each once. */
export function watchForProxies(app: FastifyInstance, log: Log): void {
  app.addHook('onRequest', async request => {
    const peer = untrustedProxyOf(request)
    if (peer === null) return
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
