import { isIP } from 'node:net'
import { isPublicAddress, isThisMachine } from './address.ts'

/** Ports that web servers use, beside the standard one. A connection to any other one would be a port scan, or speak to something else. */
const PORTS: Record<string, readonly string[]> = { 'https:': ['', '8443'], 'http:': ['', '8080'] }

/** Why nothing is sent to an address. */
export type ForbiddenTarget = 'not_https' | 'port' | 'not_public' | 'own_address'

/** Which addresses may be posted to. */
export type PublicHttpPolicy = {
  /** May a target be http: as well? */
  allowHttp: boolean
  /** 'http://127.0.0.1:4000/': how addresses begin that the operator of this program named in its environment. Nothing of them is checked. */
  allowedUrls: readonly string[]
  /** Hosts of our own public address. */
  ownHosts: readonly string[]
  /** Are some of these addresses our own (servers, ranges)? Asked before each connection. */
  areOwn(addresses: readonly string[]): Promise<boolean>
}

/** The host of a URL without the brackets that IPv6 has there. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/**
 * What can be told of a target without asking anybody: scheme, port, and the address where the host is one. Names are
 * looked at when they are sent to, since they may change.
 * @param url an http: or https: address
 */
export function forbiddenTarget(url: URL, policy: Omit<PublicHttpPolicy, 'areOwn'>): ForbiddenTarget | null {
  if (isNamed(url, policy)) return null
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowHttp)) return 'not_https'
  if (!PORTS[url.protocol]?.includes(url.port)) return 'port'
  const host = hostOf(url)
  if (isIP(host) !== 0) return forbiddenAddress(host)
  if (policy.ownHosts.includes(host.replace(/\.$/, ''))) return 'own_address'
  // Resolvers answer these without asking anybody.
  return /(^|\.)localhost\.?$/i.test(host) ? 'not_public' : null
}

/** Did the operator of this program name this address? */
export const isNamed = (url: URL, { allowedUrls }: Pick<PublicHttpPolicy, 'allowedUrls'>): boolean =>
  allowedUrls.some(beginning => url.href.startsWith(beginning))

/** Why nothing is sent to this IP address, as far as the address says so itself. */
export function forbiddenAddress(address: string): 'not_public' | 'own_address' | null {
  if (!isPublicAddress(address)) return 'not_public'
  return isThisMachine(address) ? 'own_address' : null
}
