// What the console and its agents compare. Node only: browsers have no node:crypto.
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import ipaddr from 'ipaddr.js'
import type { AgentAccess, AgentEgress, AgentUserLimits } from './agent.ts'
import type { AgentProxyTls } from './proxy-tls.ts'

const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/**
 * A line of a deny list in stored form: a lower-case domain (punycode) without leading `*.` or trailing dot, or an
 * address or prefix. '' for blank lines and comments; null if invalid, such as a prefix with host bits set.
 */
export function normaliseDenied(line: string): string | null {
  let text = line.trim().toLowerCase()
  if (text === '' || text.startsWith('#')) return ''
  const [address = '', length, more] = text.split('/')
  if (isIP(address) !== 0) {
    if (length === undefined) return text
    return more === undefined && isWholePrefix(text) ? text : null
  }
  text = text.replace(/^[a-z][a-z0-9+.-]*:\/\//, '').replace(/[/?#].*$/, '')
  text = text
    .replace(/^(?:\*\.|\.)/, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '')
  // oxlint-disable-next-line no-control-regex
  if (/[^\x00-\x7f]/.test(text)) text = domainToASCII(text)
  return hostName.test(text) ? text : null
}

/** Whether a text is a prefix without host bits. */
function isWholePrefix(text: string): boolean {
  if (!ipaddr.isValidCIDR(text)) return false
  const [address, length] = ipaddr.parseCIDR(text)
  const network = (address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(text)
  return text.endsWith(`/${length}`) && network.toNormalizedString() === address.toNormalizedString()
}

/** Marks an exception below a denied domain, in stored deny lists and in lines of `write-user-acl`. */
export const EXCEPTION_MARK = '!'

/**
 * Merges a deny list and its exceptions into one stored list: sorted, without duplicates, exceptions with {@link
 * EXCEPTION_MARK}. The first invalid line is returned as `bad`; an exception must be a domain, not an address.
 */
export function normaliseDenyList(
  denied: Iterable<string>,
  allowed: Iterable<string> = []
): { ok: true; domains: string[] } | { ok: false; bad: string } {
  const domains = new Set<string>()
  for (const line of denied) {
    const domain = normaliseDenied(line)
    if (domain === null) return { ok: false, bad: line }
    if (domain !== '') domains.add(domain)
  }
  for (const line of allowed) {
    const domain = normaliseDenied(line)
    if (domain === null || isIP(domain.split('/', 1)[0] ?? '') !== 0) return { ok: false, bad: line }
    if (domain !== '') domains.add(`${EXCEPTION_MARK}${domain}`)
  }
  return { ok: true, domains: [...domains].toSorted() }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * The id of a deny set: equal sets have equal hashes. Takes the output of {@link normaliseDenyList}, or sorted domains
 * and sorted exceptions.
 */
export const denySetHash = (domains: readonly string[], allowed: readonly string[] = []): string =>
  // The mark sorts before the first character of any domain or address.
  sha256([...allowed.map(domain => `${EXCEPTION_MARK}${domain}`), ...domains].join('\n'))

/** A hash of the configuration, key included. */
export const proxyTlsHash = (wanted: AgentProxyTls): string =>
  sha256(JSON.stringify(wanted.source === 'none' ? [] : [wanted.source, wanted.certificate, wanted.key]))

/** A canonical text for limits. Empty: none. */
export const limitsText = ({ mbps, connections, connections_per_second: rate, quota }: AgentUserLimits): string =>
  [mbps, connections, rate, quota?.id, quota?.bytes]
    .map(value => value ?? '')
    .join(' ')
    .trimEnd()

/**
 * The hash that `GET /api/state` reports for a user. Prefixes and client addresses in canonical form, in any order.
 * Users with `password` access keep the hash from before other ways existed.
 */
export function userHash(user: {
  password: string
  prefixes: readonly string[]
  denySet: string
  allowedClientIps: readonly string[]
  access?: AgentAccess | undefined
  limits?: AgentUserLimits | undefined
  egress?: AgentEgress | undefined
}): string {
  const parts = [
    user.password,
    user.prefixes.toSorted().join(','),
    user.denySet,
    user.allowedClientIps.toSorted().join(','),
    ...(user.access === undefined || user.access === 'password' ? [] : [user.access]),
    // Without limits the hash stays what it was before limits existed.
    ...[limitsText(user.limits ?? {})].filter(text => text !== ''),
    ...(user.egress === undefined || user.egress === 'fixed' ? [] : [`egress ${user.egress}`])
  ]
  return sha256(parts.join('\n'))
}
