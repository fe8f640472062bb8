// The node agent's management API: requests, replies and texts of refusals. Browsers never talk to an agent.
import { z } from 'zod'
import { EgressMode } from './address-family.ts'
import { foreignList, foreignText } from './foreign.ts'
import { agentProgram } from './agent-takeover.ts'
import { agentOwner } from './agent-owner.ts'
import { agentAlarm } from './agent-live.ts'
import { agentProxyTlsState, MOST_NAMES } from './proxy-tls.ts'

export * from './agent-takeover.ts'
export * from './agent-problems.ts'
export * from './agent-owner.ts'

/** The texts of refusals. Operators' scripts compare the first two literally. */
export const agentTexts = {
  badUser: 'Bad format for user.',
  badPrefix: 'Invalid prefix.',
  badBody: 'The request body has the wrong format.',
  badPassword: 'Bad format for password.',
  badDomain: 'Invalid domain.',
  badClientIp: 'Invalid client address.',
  badCount: 'Invalid number of addresses.',
  noClientIps: 'Access by client address needs at least one client address.',
  wideClientIp: 'A client address without a password can be at most a /24 (IPv4) or a /48 (IPv6).',
  tooManyClientIps: 'A user without a password can have at most 256 client addresses.',
  egressNeedsIpv6: 'Only users whose prefixes are all IPv6, /64 or larger, can have other exit addresses.',
  outsidePrefixes: "The prefix is outside the server's own prefixes.",
  prefixInUse: 'A user still leases addresses of a prefix that would be removed.',
  tooManyAddresses: 'A user may lease at most 65536 addresses.',
  noFreeAddresses: 'Not enough free addresses.',
  unknownUser: 'No such user.',
  userExists: 'The user already exists.',
  unknownDenySet: 'No user has this deny set: send the lists in full.',
  badToken: 'Missing or wrong bearer token.',
  unknownPath: 'No such call.',
  tooLarge: 'The request body is too large.',
  notDurable: 'The change could not be written to disk. Nothing changed.',
  notServing: 'No worker serves the proxies right now. The agent is restarting them.',
  takingOver: 'A new process is taking over the agent. Try again in a second.',
  foreignConsole: 'This agent belongs to another console.',
  proxyTlsByEnvironment: 'PROXY_TLS_CERT on this server sets the certificate for proxy clients.',
  proxyTlsNoPair: 'The certificate or the key cannot be read, or they do not match.',
  olderConsole: 'The console does not know the latest changes of this agent. Its database may have been restored.',
  internal: 'The agent could not respond. See its log for the reason.'
} as const

export type AgentReason = keyof typeof agentTexts

/** A refusal: the HTTP status, a stable reason, and a sentence that includes the rejected value, if any. */
export const agentFailure = z.object({
  status: z.number(),
  reason: foreignText(64),
  msg: foreignText(500),
  /** With `foreignConsole` and `olderConsole`: the agent's owner. */
  owner: agentOwner.optional()
})
export type AgentFailure = z.infer<typeof agentFailure>

/** Users appear in `Basic` credentials and `ip:port:user:password` lines, so they contain neither ':' nor spaces. */
export const agentUserName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/, agentTexts.badUser)
/** Visible ASCII without ':' and spaces; up to 128 characters. */
export const agentPassword = z.string().regex(/^[!-9;-~]{1,128}$/, agentTexts.badPassword)

/**
 * How a user's clients authenticate. `password`: with the password, and only from listed addresses if there are any.
 * `address`: listed addresses need no password, others do. `password_and_address`: both are required.
 */
export const agentAccess = z.enum(['password', 'address', 'password_and_address'])
export type AgentAccess = z.infer<typeof agentAccess>

/** The source address for users who lease IPv6 /64s. */
export const agentEgress = EgressMode
export type AgentEgress = z.infer<typeof agentEgress>

/** The most client addresses of a user, and the widest prefixes, if no password is required. */
export const MOST_OPEN_CLIENTS = 256
export const WIDEST_OPEN_CLIENT = { 4: 24, 6: 48 } as const

/**
 * A user's limits; missing ones are unlimited. `mbps`: megabits per second in each direction. `connections`: open ones.
 * `connections_per_second`: new ones. `quota`: after so many bytes in both directions, counted since the agent first
 * saw this `id`, connections end and new ones are refused.
 */
export const agentUserLimits = z.object({
  mbps: z.number().min(0.001).max(1_000_000).optional(),
  connections: z.int().min(1).max(1_000_000).optional(),
  connections_per_second: z.int().min(1).max(1_000_000).optional(),
  quota: z.object({ id: z.string().regex(/^\S{1,64}$/), bytes: z.int().nonnegative() }).optional()
})
export type AgentUserLimits = z.infer<typeof agentUserLimits>

/**
 * Body of `PUT /api/users/{user}`: the complete user; missing fields are empty. `allowed_domains` are exceptions from
 * `denied_domains`: the longest matching line decides, and a domain in both lists is denied. Older agents ignore the
 * exceptions. `deny_set` (see {@link denySetHash}) may replace both lists if another user of this agent has the same
 * set; otherwise the reply is 409 `unknownDenySet` and the caller sends the domains.
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
  allowed_client_ips: z.array(z.string().max(64)).max(10_000).default([]),
  /**
   * Default `password`. Other values need `allowed_client_ips`: older agents ignore `access`, and require the password
   * from listed clients.
   */
  access: agentAccess.optional(),
  /** Older agents ignore it; their reply has no `limited`. */
  limits: agentUserLimits.optional(),
  /** Default `fixed`. Older agents ignore it; their reply has no `egress`. */
  egress: agentEgress.optional()
})
export type AgentUserBody = z.input<typeof agentUserBody>

/** One leased proxy as the customer receives it. */
export const agentProxy = z.object({
  ip: foreignText(64),
  port: z.number(),
  username: foreignText(64),
  password: foreignText(128)
})
export type AgentProxy = z.infer<typeof agentProxy>

/**
 * Reply of `PUT /api/users/{user}`. `hash` is what `GET /api/state` reports for this user until it changes. A prefix of
 * more than 65536 addresses (IPv6) is listed with its first usable address only; all of them work.
 */
export const agentUserReply = z.object({
  /** Left out with `?proxies=0`. Older agents send it always. */
  proxies: foreignList(agentProxy, 65_536).optional(),
  hash: foreignText(64),
  deny_set: foreignText(64),
  /** The agent enforces `limits`. Older agents do not send it. */
  limited: z.literal(true).optional(),
  /** The mode in effect. Older agents, which only have `fixed`, do not send it. */
  egress: agentEgress.optional(),
  version: z.number()
})
export type AgentUserReply = z.infer<typeof agentUserReply>

/** Reply of `DELETE /api/users/{user}`. `deleted`: false if there was no such user, which is also a success. */
export const agentDeleteReply = z.object({ deleted: z.boolean(), version: z.number() })
export type AgentDeleteReply = z.infer<typeof agentDeleteReply>

/** Ranges of an agent. */
const MOST_PREFIXES = 10_000

/** Body of `PUT /api/prefixes`: every address range of the server. */
export const agentPrefixesBody = z.object({ prefixes: z.array(z.string().max(64)).max(MOST_PREFIXES) })

/**
 * Whether the kernel treats a prefix as local; if not, `command` is what an operator must run as root. `link` for IPv6:
 * `on_link` of an interface, so that routers look for each address there and get no reply; `routed` if no interface has
 * it; `unknown` if the system does not tell. Older agents do not send it.
 */
export const agentRoute = z.object({
  prefix: foreignText(64),
  local: z.boolean(),
  command: foreignText(300).optional(),
  link: z.enum(['routed', 'on_link', 'unknown']).optional()
})
export type AgentRoute = z.infer<typeof agentRoute>

export const agentPrefixesReply = z.object({
  prefixes: foreignList(foreignText(64), MOST_PREFIXES),
  routes: foreignList(agentRoute, MOST_PREFIXES),
  version: z.number()
})
export type AgentPrefixesReply = z.infer<typeof agentPrefixesReply>

/** Users in one reply of `GET /api/state`. */
export const STATE_USERS = 1000

/** Query of `GET /api/state`: with `limit`, at most so many users, by name after `after`. Older agents send all of them. */
export const agentStateQuery = z.object({
  after: z.string().max(64).default(''),
  limit: z.coerce.number().int().min(1).max(STATE_USERS).optional()
})

/**
 * Its reply: enough to compare with the wanted state, without passwords or domain lists. `version` rises with every
 * change; a new `epoch` means the state on disk was lost; `generation` is the version of the user's last change; `hash`
 * is {@link userHash}. Ranges and routes are in the first page.
 */
export const agentState = z.object({
  epoch: foreignText(64),
  version: z.number(),
  /** The console that owns it; null: none. Older agents do not send it. */
  owner: agentOwner.nullish(),
  prefixes: foreignList(foreignText(64), MOST_PREFIXES),
  routes: foreignList(agentRoute, MOST_PREFIXES),
  /** The agent enforces `agentUserLimits`. */
  limited: z.literal(true).optional(),
  /** Older agents, without `PUT /api/proxy-tls`, do not send it. */
  proxy_tls: agentProxyTlsState.optional(),
  users: foreignList(
    z.object({
      user: foreignText(64),
      hash: foreignText(64),
      generation: z.number(),
      /** Older agents do not send it. */
      quota: agentUserLimits.shape.quota
    }),
    65_536
  ),
  /** More users follow: the next page's `after`. */
  next: foreignText(64).optional()
})
export type AgentState = z.infer<typeof agentState>

/** 100 years. */
const MOST_SECONDS = 100 * 366 * 24 * 3600
/** More than a machine has ports and memory for. */
const MOST_CONNECTIONS = 100_000_000
/** A plausible count: sums over a day stay finite, and times computed from it are valid. */
const figure = (most = Number.MAX_SAFE_INTEGER) => z.int().nonnegative().max(most)

/** An instant in the agents' format, with milliseconds, so that text order is time order. The database accepts it. */
const instantOfAgent = z.string().regex(/^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z$/)

/**
 * Counters of one user and address. They only rise while `since` (ISO 8601) stays the same. `up` and `down` are bytes
 * as seen by the proxy client; `codes` counts endings other than `ok` by access log code. Older agents send neither
 * connections nor codes.
 */
const agentTrafficRow = z.object({
  user: agentUserName.or(z.literal('-')),
  ip: z.string().regex(/^[0-9a-f:./-]{1,64}$/i),
  since: instantOfAgent,
  up: figure(),
  down: figure(),
  requests: figure(),
  errors: figure(),
  connections: figure().default(0),
  // Counted first, because each entry of a record takes time.
  codes: z
    .custom<object>(codes => typeof codes === 'object' && codes !== null && Object.keys(codes).length <= 64)
    .pipe(z.record(z.string().regex(/^[a-z0-9-]{1,40}$/), figure()))
    .default({})
})

/**
 * Reply of `GET /api/traffic`. Counters only rise while `epoch` and the row's `since` stay the same, and reported
 * figures survive restarts. Rows of an ended lease stay for a day. An IPv6 prefix of more than 65536 addresses has one
 * row, at the address that lists it.
 */
export const agentTraffic = z.object({ epoch: foreignText(64), rows: foreignList(agentTrafficRow, 1_000_000) })
export type AgentTraffic = z.infer<typeof agentTraffic>

/** Largest number of rows in a reply of `GET /api/traffic/changes`. */
const MOST_CHANGES = 5000

/**
 * Query of `GET /api/traffic/changes`: rows changed since `after`, the `cursor` of an earlier reply of this `epoch`.
 * Another epoch, or none, starts from the beginning. `fresh` includes what happened up to now; without it the figures
 * are those of the last save.
 */
export const agentChangesQuery = z.object({
  epoch: z.string().max(64).default(''),
  after: z.coerce.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER).default(0),
  limit: z.coerce.number().int().min(1).max(MOST_CHANGES).default(MOST_CHANGES),
  fresh: z.enum(['0', '1']).default('0')
})

/**
 * Its reply: complete, durable counters in the order of change; `changed` is the time of the last. `more`: continue
 * from `cursor`. The same cursor returns the same rows, or newer figures of them.
 */
export const agentTrafficChanges = z.object({
  epoch: z.string().min(1).max(64),
  cursor: figure(),
  more: z.boolean(),
  rows: foreignList(agentTrafficRow.extend({ changed: z.iso.datetime() }), MOST_CHANGES)
})
export type AgentTrafficChanges = z.infer<typeof agentTrafficChanges>

export const agentHealth = z.object({
  status: z.enum(['ok', 'degraded']),
  version: z
    .string()
    .max(100)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u),
  workers: figure(100_000),
  uptime_seconds: figure(MOST_SECONDS),
  /** Problem codes (`AGENT_PROBLEMS`), and the agent's time. Older agents send neither. */
  problems: z
    .array(z.string().regex(/^[\w-]{1,40}$/))
    .max(30)
    .optional(),
  time: z.iso.datetime().optional(),
  /** When the certificates of its API and its proxy port end; null: no TLS. Older agents do not send it. */
  certificates: z
    .object({
      api: z.iso.datetime().nullable(),
      proxy: z.iso.datetime().nullable(),
      /** Host names and addresses in the proxy port's certificate. Older agents do not send it. */
      proxy_names: z
        .array(z.string().regex(/^[\x21-\x7e]{1,255}$/))
        .max(MOST_NAMES)
        .optional()
    })
    .optional()
})
export type AgentHealth = z.infer<typeof agentHealth>

/**
 * In the reply of `GET /api/view-server-info`: open client connections, and all users' traffic since the process
 * started (`uptime_seconds` of its health). A few seconds old. Older agents do not send it.
 */
export const agentLoad = z.object({
  connections: figure(MOST_CONNECTIONS),
  up: figure(),
  down: figure(),
  requests: figure(),
  errors: figure()
})
export type AgentLoad = z.infer<typeof agentLoad>

/** What `GET /api/view-server-info` reports about the agent itself; older agents send only parts of it. */
export const agentReport = z.object({
  num_of_users: figure(MOST_CONNECTIONS).optional(),
  health: agentHealth.optional(),
  load: agentLoad.optional(),
  alarms: z.array(agentAlarm).max(200).optional(),
  ...agentProgram.partial().shape
})

const flag = z
  .union([z.boolean(), z.number(), z.string()])
  .transform(value => /^(?:true|1|yes|on)$/i.test(String(value)))

/** Bodies of the classic verbs, by path. Scripts depend on their texts. */
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

/** The reply of every classic verb. `proxy_str` lines are `ip:port:user:password`. */
export const agentClassicProxies = z.object({
  status: z.literal(200),
  data: z.object({ num_of_ips: z.number(), proxy_str: z.array(z.string()) })
})
export type AgentClassicProxies = z.infer<typeof agentClassicProxies>
