// The node agent's management API: what the console sends, what the agent answers, and the texts of its refusals.
// For Node only (the hashes need node:crypto): the browser never talks to an agent.
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { domainToASCII } from 'node:url'
import { z } from 'zod'

/** What a refusal says. Operators' scripts compare the first two word by word. */
export const agentTexts = {
  badUser: 'Bad format for user.',
  badPrefix: 'Invalid prefix.',
  badBody: 'The request body does not fit.',
  badPassword: 'Bad format for password.',
  badDomain: 'Invalid domain.',
  badClientIp: 'Invalid client address.',
  badCount: 'Invalid number of addresses.',
  outsidePrefixes: "The prefix is outside the server's own prefixes.",
  prefixInUse: 'A user still leases addresses of a prefix that is to go.',
  tooManyAddresses: 'A user may lease at most 65536 addresses.',
  noFreeAddresses: 'Not enough free addresses.',
  unknownUser: 'No such user.',
  userExists: 'The user exists already.',
  unknownDenySet: 'No user has this deny set: send the lists in full.',
  badToken: 'Missing or wrong bearer token.',
  unknownPath: 'No such call.',
  tooLarge: 'The request body is too large.',
  notDurable: 'The change could not be written to disk. Nothing changed.',
  notServing: 'No worker serves the proxies at present. They are being started again.',
  internal: 'The agent failed to answer. Its log says why.'
} as const

export type AgentReason = keyof typeof agentTexts

/** A refusal: the HTTP status again, a stable reason, and a sentence (with the offending value where there is one). */
export const agentFailure = z.object({ status: z.number(), reason: z.string(), msg: z.string() })
export type AgentFailure = z.infer<typeof agentFailure>

/** Proxy user names are in `Basic` credentials and in `ip:port:user:password` lines, so neither ':' nor spaces. */
export const agentUserName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/, agentTexts.badUser)
/** Visible ASCII without ':' and spaces; at most 128 characters. */
export const agentPassword = z.string().regex(/^[!-9;-~]{1,128}$/, agentTexts.badPassword)

/**
 * Body of `PUT /api/users/{user}`: the whole of what the user is to be; what is left out is empty.
 * `allowed_domains` are exceptions from `denied_domains`: of all lines that match a name, the longest decides, and a
 * domain that is in both lists is denied. Agents of before this field drop it, and so deny the exceptions too.
 * `deny_set` (a hash of {@link denySetHash}) may stand in for both lists when another user of this agent already has the
 * same set; otherwise the reply is 409 `unknownDenySet` and the caller sends the domains.
 */
export const agentUserBody = z.object({
  password: agentPassword,
  prefixes: z.array(z.string().max(64)).max(65_536),
  denied_domains: z.array(z.string().max(1024)).max(1_000_000).optional(),
  allowed_domains: z.array(z.string().max(1024)).max(1_000_000).optional(),
  deny_set: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  allowed_client_ips: z.array(z.string().max(64)).max(10_000).default([])
})
export type AgentUserBody = z.input<typeof agentUserBody>

/** One leased proxy, as the customer gets it. */
export const agentProxy = z.object({ ip: z.string(), port: z.number(), username: z.string(), password: z.string() })
export type AgentProxy = z.infer<typeof agentProxy>

/**
 * Reply of `PUT /api/users/{user}`. `hash` is what `GET /api/state` will show for this user until it changes. A prefix
 * of more than 65536 addresses (IPv6) is listed by its first usable address only; all of its addresses work.
 */
export const agentUserReply = z.object({
  proxies: z.array(agentProxy),
  hash: z.string(),
  deny_set: z.string(),
  version: z.number()
})
export type AgentUserReply = z.infer<typeof agentUserReply>

/** Reply of `DELETE /api/users/{user}`: `deleted` is false when there was no such user (which is a success too). */
export const agentDeleteReply = z.object({ deleted: z.boolean(), version: z.number() })
export type AgentDeleteReply = z.infer<typeof agentDeleteReply>

/** Body of `PUT /api/prefixes`: every address range that the server owns. */
export const agentPrefixesBody = z.object({ prefixes: z.array(z.string().max(64)).max(10_000) })

/** Whether the kernel treats a prefix as local; if not, `command` is what an operator has to run as root. */
export const agentRoute = z.object({ prefix: z.string(), local: z.boolean(), command: z.string().optional() })
export type AgentRoute = z.infer<typeof agentRoute>

export const agentPrefixesReply = z.object({
  prefixes: z.array(z.string()),
  routes: z.array(agentRoute),
  version: z.number()
})
export type AgentPrefixesReply = z.infer<typeof agentPrefixesReply>

/**
 * Reply of `GET /api/state`: enough to compare with what is wanted, without passwords or domain lists. `version` rises
 * with every change; `epoch` is another one when the state on disk was lost; `generation` is the version in which the
 * user last changed; `hash` is {@link userHash}.
 */
export const agentState = z.object({
  epoch: z.string(),
  version: z.number(),
  prefixes: z.array(z.string()),
  routes: z.array(agentRoute),
  users: z.array(
    z.object({ user: z.string(), prefixes: z.array(z.string()), hash: z.string(), generation: z.number() })
  )
})
export type AgentState = z.infer<typeof agentState>

/**
 * Reply of `GET /api/traffic`. Counters only rise while `epoch` and the row's `since` (ISO 8601) stay the same; what was
 * once reported survives any restart. `up` and `down` are bytes as seen by the proxy client. Rows of a lease that is
 * gone stay for a day. An IPv6 prefix of more than 65536 addresses has one row, at the address that it is listed by.
 */
export const agentTraffic = z.object({
  epoch: z.string(),
  rows: z.array(
    z.object({
      user: z.string(),
      ip: z.string(),
      since: z.string(),
      up: z.number(),
      down: z.number(),
      requests: z.number(),
      errors: z.number()
    })
  )
})
export type AgentTraffic = z.infer<typeof agentTraffic>

/** 100 years. */
const MOST_SECONDS = 100 * 366 * 24 * 3600
/** More than a machine has ports and memory for. */
const MOST_CONNECTIONS = 100_000_000
/** A count that can be right: sums of a day of them stay finite, and times that are made of it are times. */
const figure = (most = Number.MAX_SAFE_INTEGER) => z.int().nonnegative().max(most)

export const agentHealth = z.object({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  workers: figure(100_000),
  uptime_seconds: figure(MOST_SECONDS)
})
export type AgentHealth = z.infer<typeof agentHealth>

/**
 * In the reply of `GET /api/view-server-info`: open client connections, and what all users together have used since the
 * agent's process started (`uptime_seconds` of its health). A few seconds old. Older agents do not tell it.
 */
export const agentLoad = z.object({
  connections: figure(MOST_CONNECTIONS),
  up: figure(),
  down: figure(),
  requests: figure(),
  errors: figure()
})
export type AgentLoad = z.infer<typeof agentLoad>

/** What `GET /api/view-server-info` tells of the agent itself; those of before tell none or a part of it. */
export const agentReport = z.object({
  num_of_users: figure(MOST_CONNECTIONS).optional(),
  health: agentHealth.optional(),
  load: agentLoad.optional()
})

const flag = z
  .union([z.boolean(), z.number(), z.string()])
  .transform(value => /^(?:true|1|yes|on)$/i.test(String(value)))

/** Bodies of the classic verbs, by path. Texts are those that the scripts know. */
export const agentClassic = {
  user: z.object({ user: z.string() }),
  createUser: z.object({ user: z.string(), num_of_ips: z.coerce.number().int().min(1).max(65_536) }),
  createUserByPrefix: z.object({
    user: z.string(),
    prefix: z.union([z.string(), z.array(z.string())]),
    remove_network_addr: flag.default(false),
    remove_broadcast_addr: flag.default(false)
  }),
  whitelist: z.object({ user: z.string(), ip: z.string() }),
  userAcl: z.object({ acl_str: z.string() }),
  blacklist: z.object({ domain: z.string() })
} as const

/** What every classic verb answers. `proxy_str` lines are `ip:port:user:password`. */
export const agentClassicProxies = z.object({
  status: z.literal(200),
  data: z.object({ num_of_ips: z.number(), proxy_str: z.array(z.string()) })
})
export type AgentClassicProxies = z.infer<typeof agentClassicProxies>

const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/**
 * One line of a deny list as it is stored: a lower-case domain without leading `*.` or trailing dot, or an address or
 * prefix. `''` for blank lines and comments, `null` for what is neither, as an address with bits behind its length is. Unicode names become punycode.
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

/** Whether `address/length` says a range, with no bits of the address behind the length. */
function isWholePrefix(text: string): boolean {
  if (!ipaddr.isValidCIDR(text)) return false
  const [address, length] = ipaddr.parseCIDR(text)
  const network = (address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(text)
  return text.endsWith(`/${length}`) && network.toNormalizedString() === address.toNormalizedString()
}

/** Before a domain, in a stored deny list and in the lines of `write-user-acl`: an exception, open below a denied one. */
export const EXCEPTION_MARK = '!'

/**
 * Normalises a deny list and its exceptions to one list as it is stored: sorted, without repetitions, exceptions with
 * {@link EXCEPTION_MARK}. The first line that does not fit comes back as `bad`; an exception is a domain, no address.
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
 * The name of a deny set: equal sets have equal hashes. Takes what {@link normaliseDenyList} gives, or sorted domains
 * with the sorted exceptions from them beside.
 */
export const denySetHash = (domains: readonly string[], allowed: readonly string[] = []): string =>
  // The mark sorts before whatever a domain or an address begins with.
  sha256([...allowed.map(domain => `${EXCEPTION_MARK}${domain}`), ...domains].join('\n'))

/** The hash that `GET /api/state` shows for a user. Prefixes and client addresses in canonical notation, any order. */
export function userHash(user: {
  password: string
  prefixes: readonly string[]
  denySet: string
  allowedClientIps: readonly string[]
}): string {
  const parts = [
    user.password,
    user.prefixes.toSorted().join(','),
    user.denySet,
    user.allowedClientIps.toSorted().join(',')
  ]
  return sha256(parts.join('\n'))
}
