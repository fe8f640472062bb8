import { z } from 'zod'
import { ADDRESS_FAMILIES } from './address-family.ts'
import { customerNote } from './customer-note.ts'
import { message } from './form-messages.ts'
import { serverTroubles, type ServerTrouble } from './server-troubles.ts'
import { PROVISIONING_STEPS, provisioningMessages, type ProvisioningCode } from './provisioning.ts'
import { Id, IdName, ReasonParams, Time, optionalText, text } from './shapes.ts'

export const ServerGroup = z.object({
  id: z.number(),
  name: z.string(),
  description: z.string(),
  servers: z.array(IdName),
  version: z.string()
})
export type ServerGroup = z.infer<typeof ServerGroup>

export const ServerGroupForm = z.object({
  name: text(message('enter_server_group')),
  description: text(message('enter_description'), 2000),
  servers: z
    .array(Id, { error: message('select_server') })
    .min(1, message('select_server'))
    .max(250)
})

export type ServerGroupForm = z.output<typeof ServerGroupForm>

/**
 * A server's state. `paused`: sells nothing but serves its orders. `draining`: its orders move away too. `given_up`:
 * permanently gone. `returning`: taken back; sells again once its agent was compared.
 */
export const SERVER_STATUSES = ['active', 'paused', 'draining', 'given_up', 'returning'] as const
export type ServerStatus = (typeof SERVER_STATUSES)[number]

/** A sentence as its code and values. */
const ProvisioningSaid = z.object({
  code: z.enum(Object.keys(provisioningMessages) as [ProvisioningCode, ...ProvisioningCode[]]),
  params: ReasonParams
})
export type ProvisioningSaid = z.infer<typeof ProvisioningSaid>

export const ProvisioningLog = z.object({
  step: z.enum(PROVISIONING_STEPS),
  status: z.enum(['running', 'done', 'failed', 'cancelled']),
  message: z.string(),
  /** The sentences of `message`; missing in older entries and while a step runs. */
  said: z.array(ProvisioningSaid).optional(),
  /** The end of the machine's output. */
  output: z.string(),
  started_at: Time,
  ended_at: Time.nullable()
})
export type ProvisioningLog = z.infer<typeof ProvisioningLog>

export const Provisioning = z.object({
  /** If it was cancelled, `step` is the step it reached, and `message` is empty. */
  status: z.enum(['running', 'done', 'failed', 'cancelled']),
  /** It was cancelled, and the worker is ending it. */
  cancelling: z.boolean(),
  step: z.enum(PROVISIONING_STEPS),
  message: z.string(),
  said: z.array(ProvisioningSaid).optional(),
  at: Time,
  /** `run_init`: install and start the agent, not only load the ranges. */
  run_init: z.boolean(),
  /** Only writes and applies the agent's settings. */
  settings: z.boolean().optional(),
  /** Part of an upgrade, which does not apply saved settings. */
  as_applied: z.boolean().optional(),
  /** The steps so far, in order. */
  steps: z.array(ProvisioningLog)
})
export type Provisioning = z.infer<typeof Provisioning>

export const AgentReport = z.object({
  /** When it last answered. */
  at: Time,
  version: z.string(),
  status: z.enum(['ok', 'degraded']),
  workers: z.number(),
  uptime_seconds: z.number(),
  users: z.number().nullable(),
  /** Open proxy connections; null: an older agent, which reports neither these nor traffic. */
  connections: z.number().nullable(),
  /** Bytes per second since the previous check. */
  rate: z.object({ up: z.number(), down: z.number() }).nullable(),
  /** Bytes, and the most connections seen, by hour; oldest first, up to 48. */
  hours: z.array(z.object({ at: Time, up: z.number(), down: z.number(), connections: z.number() })),
  /** Problem codes (`agentProblems`); newer agents may send others. Missing in older reports. */
  problems: z.array(z.string()).optional(),
  /** Its program can hand over to another without cutting tunnels. Missing in older reports. */
  hands_over: z.boolean().optional(),
  /** The settings it supports (`agent-settings.ts`). Missing in older reports. */
  settings_format: z.number().optional(),
  /** When the certificates of its API and proxy port end; null: no TLS. Missing in older reports. */
  certificates: z
    .object({
      api: Time.nullable(),
      proxy: Time.nullable(),
      /** The proxy certificate's host names and addresses; missing for older agents. */
      proxy_names: z.array(z.string()).optional()
    })
    .optional(),
  /** Since when its reports are implausible and ignored. The last valid one stays. */
  refused_since: Time.optional()
})
export type AgentReport = z.infer<typeof AgentReport>

export const Server = z.object({
  id: z.number(),
  name: z.string(),
  ip: z.string(),
  description: z.string(),
  /** 1: connected. */
  server_status: z.union([z.literal(0), z.literal(1)]),
  /** SSH port. */
  port: z.number(),
  has_password: z.boolean(),
  /** SHA-256 fingerprints of SSH host keys, as ssh prints them; null: none. */
  host_key: z.object({
    /** The key that the machine must show. */
    known: z.string().nullable(),
    /** Entered in advance, and not seen yet. */
    expected: z.string().nullable(),
    /** The different key that it last showed, refused until an operator accepts it. */
    refused: z.string().nullable()
  }),
  agent_port: z.number(),
  /** The management API uses TLS with this server's own certificate only. */
  has_certificate: z.boolean(),
  /** That certificate's SHA-256 fingerprint and end. null: none, or unreadable. */
  certificate: z.object({ fingerprint: z.string(), ends_at: Time }).nullable(),
  proxy_port: z.number(),
  cidrs: z.array(z.object({ id: z.number(), cidr: z.string(), ip_count: z.number(), name: z.string() })),
  groups: z.array(IdName),
  /** Live orders with users on it. */
  orders: z.number(),
  /** Addresses in use or in quarantine, under any rule. */
  leased: z.number(),
  /** The newest change of a proxy user, the newest confirmed by the agent, and how many users are waiting. */
  users: z.object({ wanted: z.number(), confirmed: z.number(), behind: z.number() }),
  /** The same for its ranges. */
  ranges: z.object({ wanted: z.number(), confirmed: z.number() }),
  /** Ranges that the agent refused. They are not sold. */
  refused_ranges: z.array(z.string()),
  /** Its agent's last health report. */
  agent: AgentReport.nullable(),
  /** Does the agent have what the console wants? */
  step: z.enum(['in step', 'behind', 'unreachable']),
  unreachable_since: Time.nullable(),
  /** Since when changes sent to its agent fail, regardless of health checks. */
  failing_since: Time.nullable(),
  status: z.enum(SERVER_STATUSES),
  /** Does stock count its free addresses? */
  sells: z.boolean(),
  /** The English sentence of `trouble`. */
  last_error: z.string().nullable(),
  trouble: z
    .object({
      code: z.enum(Object.keys(serverTroubles) as [ServerTrouble, ...ServerTrouble[]]),
      params: ReasonParams
    })
    .nullable(),
  /** The running or last installation. */
  provisioning: Provisioning.nullable(),
  created_at: Time,
  version: z.string()
})
export type Server = z.infer<typeof Server>

const port = z.coerce
  .number()
  .pipe(z.int(message('must_be_port')).min(1, message('must_be_port')).max(65535, message('must_be_port')))
const flag = z.union([z.literal(0), z.literal(1), z.boolean()]).transform(value => value === 1 || value === true)
const ip = z
  .string({ error: message('enter_ip') })
  .trim()
  .min(1, message('enter_ip'))
  .pipe(z.union([z.ipv4(), z.ipv6()], { error: message('must_be_ip') }))

export const ServerForm = z.object({
  name: text(message('enter_name')),
  ip,
  /** One range per line. */
  cidr: text(message('enter_cidr'), 100_000),
  description: optionalText(2000),
  port: port.default(22),
  /** Root's password, or a private key in PEM; empty keeps the stored one. */
  password: optionalText(20_000),
  agent_port: port.optional(),
  /** Empty keeps the stored one. It is sent in a header. */
  agent_token: optionalText(512).refine(value => /^[!-~]*$/.test(value), message('forbidden_character')),
  /** The agent's certificate in PEM; '' or null: none. Missing: unchanged. */
  agent_certificate: z
    .string()
    .trim()
    .max(20_000)
    .refine(value => value === '' || value.startsWith('-----BEGIN CERTIFICATE-----'), message('must_be_certificate'))
    .nullish(),
  proxy_port: port.optional(),
  /** Removes the agent's certificate, whatever `agent_certificate` says. */
  forget_certificate: flag.default(false),
  /** Fingerprint of the machine's SSH host key, as `ssh-keygen -lf` prints it; empty keeps the known one. */
  host_key: optionalText(60).refine(
    value => /^(SHA256:[A-Za-z0-9+/]{43})?$/.test(value),
    message('must_be_fingerprint')
  ),
  run_init: flag.default(false),
  update_cidr: flag.default(false)
})

export type ServerForm = z.output<typeof ServerForm>

export const ProvisionForm = z.object({ run_init: flag.default(false), update_cidr: flag.default(false) })
export type ProvisionForm = z.output<typeof ProvisionForm>

/**
 * What a console that has lost track of its agent would change there: totals, and the first 1,000 user names of each
 * kind. `digest` identifies the plan for its approval.
 */
export const RepairPlan = z.object({
  digest: z.string(),
  at: Time,
  /** Users on the agent that the console does not know or wants removed. */
  removed: z.object({ count: z.number(), users: z.array(z.string()) }),
  /** Users whose settings on the agent differ. */
  changed: z.object({ count: z.number(), users: z.array(z.string()) }),
  /** Users that the agent lacks. */
  added: z.object({ count: z.number(), users: z.array(z.string()) }),
  /** Ranges that the agent would lose. */
  ranges: z.object({ count: z.number(), ranges: z.array(z.string()) })
})
export type RepairPlan = z.infer<typeof RepairPlan>

export const HostKeyForm = z.object({ fingerprint: z.string().min(1).max(60) })
export const ApprovePlanForm = z.object({ digest: z.string().min(1).max(64) })
/** `owner`: the id of the shown console that owns the agent. */
export const TakeOverForm = z.object({ owner: z.string().regex(/^[A-Za-z0-9-]{1,64}$/) })

// Bodies of manual actions on an agent.

const username = z
  .string({ error: message('enter_proxy_user') })
  .trim()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, message('enter_proxy_user'))

export const CreateProxyUserForm = z.object({
  id: Id.optional(),
  username,
  prefix: text(message('enter_prefix'), 64),
  acl_group: z.union(Id.options, { error: message('select_acl_group') })
})

export const DeleteProxyUserForm = z.object({ username })

/** The ranges to keep: a list, or one per line. */
export const ResetProxiesForm = z.object({
  cidrs: z.union([z.array(z.string().max(64)).max(10_000), z.string().max(100_000)])
})

export const AgentCallForm = z.object({
  uri: z
    .string({ error: message('enter_uri') })
    .trim()
    .max(500)
    .regex(/^\/api(\/(?!\.+(\/|$))[A-Za-z0-9._-]+)+\/?$/, message('enter_uri')),
  json_input: z.union(
    [
      z.string().trim().min(1, message('enter_json_input')).refine(isJsonObject, message('enter_json_input')),
      z.record(z.string(), z.unknown())
    ],
    { error: message('enter_json_input') }
  )
})

/** The agent's POST calls that neither show nor change who may use a proxy. */
const WITHOUT_CREDENTIALS: ReadonlySet<string> = new Set([
  '/api/add-blacklist',
  '/api/check-exit',
  '/api/del-blacklist',
  '/api/delete-all-users',
  '/api/delete-user',
  '/api/flush-access-log',
  '/api/reload',
  '/api/write-user-acl'
])

/** Whether a call to the agent needs `orders.credentials`, too. The agent ignores a slash at the end. */
export const needsCredentials = ({ uri }: { uri: string }): boolean => !WITHOUT_CREDENTIALS.has(uri.replace(/\/$/, ''))

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

export const AgentReply = z.object({ status: z.number(), output: z.unknown() })

/** Who is affected by draining, moving or giving up a server, or by an outage. */
export const ServerImpact = z.object({
  /** Paid, running orders, and their addresses on this server. */
  orders: z.number(),
  addresses: z.number(),
  /** Those of them whose delivery waits for this server. */
  undelivered: z.number(),
  /** Unpaid orders. */
  unpaid: z.number()
})
export type ServerImpact = z.infer<typeof ServerImpact>

/** A rule's free addresses in a server group, before and after: IPv4 addresses, or IPv6 /64s. */
export const StockChange = z.object({
  group: IdName,
  rule: IdName,
  family: z.enum(ADDRESS_FAMILIES),
  before: z.number(),
  after: z.number()
})
export type StockChange = z.infer<typeof StockChange>

export const PLANNED_ACTIONS = ['pause', 'drain', 'move', 'give_up', 'delete'] as const
export type PlannedAction = (typeof PLANNED_ACTIONS)[number]

const OrdersHeld = z.object({ orders: z.number(), addresses: z.number() })

/** What an action on a server would do now. Nothing is changed. */
export const ServerPlan = ServerImpact.extend({
  /** Live orders that fit elsewhere, and those that wait, or lose their addresses if the server is given up. */
  moves: OrdersHeld,
  stays: OrdersHeld,
  /** The first of the latter, by public number. */
  staying: z.array(z.object({ order_id: z.string(), addresses: z.number() })),
  /** The same for unpaid reservations. All of them end if the server is given up. */
  reservations: z.object({ moves: OrdersHeld, stays: OrdersHeld }),
  stock: z.array(StockChange)
})
export type ServerPlan = z.infer<typeof ServerPlan>

/** What saving a server's form would do. */
export const ServerEditPlan = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  /** `agent`: the address or token changes, so everything is sent again. Reloaded ranges are not listed. */
  agent: z.boolean(),
  /**
   * A new proxy port: lists show it at once, the agent uses it after the next installation; null if unchanged.
   * `orders`: with proxies there. `installs`: saving the form starts the installation.
   */
  proxy_port: z.object({ from: z.number(), to: z.number(), orders: z.number(), installs: z.boolean() }).nullable(),
  stock: z.array(StockChange)
})
export type ServerEditPlan = z.infer<typeof ServerEditPlan>

export const GroupPlanForm = z.object({ servers: z.array(Id).max(250), remove: z.boolean().default(false) })
export type GroupPlanForm = z.output<typeof GroupPlanForm>

/** What other servers, or its removal, would do to a group's plans and stock. */
export const GroupPlan = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  /** Names of variants that sell from it. It cannot be removed while there are any. */
  variants: z.array(z.string()),
  stock: z.array(StockChange)
})
export type GroupPlan = z.infer<typeof GroupPlan>

/** Where orders go when they leave a server: a server, a group, or (neither) other servers of their groups. */
export const MoveForm = z.object({ server_id: Id.optional(), group_id: Id.optional() })
export type MoveForm = z.output<typeof MoveForm>

/** The same for all orders of a server. */
export const MoveOrdersForm = MoveForm.extend(customerNote)

/** Without `from_server_id` the order leaves all its servers. */
export const MoveOrderForm = MoveOrdersForm.extend({ from_server_id: Id.optional() })
