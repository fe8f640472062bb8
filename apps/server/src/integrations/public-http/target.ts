import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** Looks public, but in Azure every machine reaches services of its host there. */
const METADATA = new Set(['168.63.129.16'])
/** The IPv6 range of global unicast (IANA). Everything else is local, translated or reserved. */
const GLOBAL_V6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * Is this the address of a machine on the internet? Excludes this machine, its networks, cloud metadata, documentation
 * and test ranges, and addresses that stand for others (IPv4-mapped, NAT64, 6to4, Teredo).
 * @param text as a resolver returns it; an invalid address is not public
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast' || METADATA.has(address.toString())) return false
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_V6)
}

/** Is this an address of this machine, public or not? */
const isThisMachine = (text: string): boolean =>
  Object.values(networkInterfaces()).some(list =>
    list?.some(({ address }) => normal(address) !== null && normal(address) === normal(text))
  )

const normal = (text: string): string | null =>
  ipaddr.isValid(text) ? ipaddr.parse(text.replace(/%.*$/, '')).toNormalizedString() : null

/** Ports of web servers beside the standard one. Other ports would allow port scans and other protocols. */
const PORTS: Record<string, readonly string[]> = { 'https:': ['', '8443'], 'http:': ['', '8080'] }

/** Why a target is forbidden. */
export type ForbiddenTarget = 'not_https' | 'port' | 'not_public' | 'own_address'

export type PublicHttpPolicy = {
  /** Is http: allowed too? */
  allowHttp: boolean
  /** Prefixes such as 'http://127.0.0.1:4000/' from the operator's environment. Addresses with one are not checked. */
  allowedUrls: readonly string[]
  /** Hosts of our own public address. */
  ownHosts: readonly string[]
  /** Are some of these addresses our own (servers, ranges)? Called before each connection. */
  areOwn(addresses: readonly string[]): Promise<boolean>
}

/** The host of a URL without the brackets of IPv6. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/**
 * Checks a target's scheme, port and IP address. A name is checked at each use, because its addresses may change.
 * @param url an http: or https: address
 */
export function forbiddenTarget(url: URL, policy: Omit<PublicHttpPolicy, 'areOwn'>): ForbiddenTarget | null {
  if (isNamed(url, policy)) return null
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowHttp)) return 'not_https'
  if (!PORTS[url.protocol]?.includes(url.port)) return 'port'
  const host = hostOf(url)
  if (isIP(host) !== 0) return forbiddenAddress(host)
  if (policy.ownHosts.includes(host.replace(/\.$/, ''))) return 'own_address'
  // Resolvers answer these names without DNS.
  return /(^|\.)localhost\.?$/i.test(host) ? 'not_public' : null
}

/** Does the environment allow this address? */
export const isNamed = (url: URL, { allowedUrls }: Pick<PublicHttpPolicy, 'allowedUrls'>): boolean =>
  allowedUrls.some(beginning => url.href.startsWith(beginning))

/** Why this IP address is forbidden, judged by the address alone. */
export function forbiddenAddress(address: string): 'not_public' | 'own_address' | null {
  if (!isPublicAddress(address)) return 'not_public'
  return isThisMachine(address) ? 'own_address' : null
}
