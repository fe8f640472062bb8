import { z } from 'zod'
import { ADDRESS_FAMILIES } from './address-family.ts'
import { message } from './form-messages.ts'
import { serverTroubles, type ServerTrouble } from './messages.ts'
import { PROVISIONING_STEPS, provisioningMessages, type ProvisioningCode } from './provisioning.ts'
import { Id, IdName, Instant, ReasonParams, Time, optionalText, text } from './shapes.ts'
import { OUTAGE_STATES } from './states.ts'

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
 * What an operator made of a server. `paused`: it sells nothing and serves on. `draining`: its orders leave it as well.
 * `given_up`: gone for good. `returning`: taken back, and it sells again once its agent was compared.
 */
export const SERVER_STATUSES = ['active', 'paused', 'draining', 'given_up', 'returning'] as const
export type ServerStatus = (typeof SERVER_STATUSES)[number]

/** A sentence by its code. */
const ProvisioningSaid = z.object({
  code: z.enum(Object.keys(provisioningMessages) as [ProvisioningCode, ...ProvisioningCode[]]),
  params: ReasonParams
})
export type ProvisioningSaid = z.infer<typeof ProvisioningSaid>

export const ProvisioningLog = z.object({
  step: z.enum(PROVISIONING_STEPS),
  status: z.enum(['running', 'done', 'failed', 'cancelled']),
  message: z.string(),
  /** The sentences of `message`; none in an entry of before these were kept, and of what is under way. */
  said: z.array(ProvisioningSaid).optional(),
  /** The end of what the machine printed. */
  output: z.string(),
  started_at: Time,
  ended_at: Time.nullable()
})
export type ProvisioningLog = z.infer<typeof ProvisioningLog>

export const Provisioning = z.object({
  /** A cancelled one: `step` says how far it was, and so what stands on the machine; `message` is empty. */
  status: z.enum(['running', 'done', 'failed', 'cancelled']),
  /** Somebody has cancelled it, and the worker ends it. */
  cancelling: z.boolean(),
  step: z.enum(PROVISIONING_STEPS),
  message: z.string(),
  said: z.array(ProvisioningSaid).optional(),
  at: Time,
  /** What was asked for: install and start the agent, or load the ranges only. */
  run_init: z.boolean(),
  /** Only the agent's settings are written and applied. */
  settings: z.boolean().optional(),
  /** Part of an upgrade: settings that were saved and not applied go on waiting. */
  as_applied: z.boolean().optional(),
  /** Each step so far, in its order. */
  steps: z.array(ProvisioningLog)
})
export type Provisioning = z.infer<typeof Provisioning>

export const AgentReport = z.object({
  /** When it was asked last and answered. */
  at: Time,
  version: z.string(),
  status: z.enum(['ok', 'degraded']),
  workers: z.number(),
  uptime_seconds: z.number(),
  users: z.number().nullable(),
  /** Open connections of its proxies; null: an agent of before, which tells neither these nor traffic. */
  connections: z.number().nullable(),
  /** Bytes a second since the check before. */
  rate: z.object({ up: z.number(), down: z.number() }).nullable(),
  /** Bytes, and the most connections seen, by hour; oldest first, at most 48. */
  hours: z.array(z.object({ at: Time, up: z.number(), down: z.number(), connections: z.number() })),
  /** Codes of what is wrong with it (`agentProblems`); newer agents may tell of more. Reports of before have none. */
  problems: z.array(z.string()).optional(),
  /** Its program can hand over to another one without cutting tunnels. Reports of before do not say. */
  hands_over: z.boolean().optional(),
  /** Which settings it knows (`agent-settings.ts`). Reports of before do not say. */
  settings_format: z.number().optional(),
  /** When the certificates of its API and of its proxy port end; null: no TLS there. Reports of before do not say. */
  certificates: z
    .object({
      api: Time.nullable(),
      proxy: Time.nullable(),
      /** Host names and addresses of the latter; agents of before tell none. */
      proxy_names: z.array(z.string()).optional()
    })
    .optional(),
  /** Since when what it tells of itself cannot be right and is not taken; what was told before stays. */
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
    /** The one that the machine has to show. */
    known: z.string().nullable(),
    /** Given beforehand, and not seen yet. */
    expected: z.string().nullable(),
    /** Another one that it showed last: refused until it is accepted. */
    refused: z.string().nullable()
  }),
  agent_port: z.number(),
  /** The management API answers with TLS, and only with this server's own certificate. */
  has_certificate: z.boolean(),
  /** Of that certificate: its SHA-256 fingerprint, and when it ends. null: none, or one that cannot be read. */
  certificate: z.object({ fingerprint: z.string(), ends_at: Time }).nullable(),
  proxy_port: z.number(),
  cidrs: z.array(z.object({ id: z.number(), cidr: z.string(), ip_count: z.number(), name: z.string() })),
  groups: z.array(IdName),
  /** Live orders that have users there. */
  orders: z.number(),
  /** Addresses that are in use or rest, whatever their rules. */
  leased: z.number(),
  /** The newest change of a proxy user, the newest that the agent confirmed, and how many users wait for theirs. */
  users: z.object({ wanted: z.number(), confirmed: z.number(), behind: z.number() }),
  /** The same of its ranges. */
  ranges: z.object({ wanted: z.number(), confirmed: z.number() }),
  /** Ranges that the agent did not take: nothing of them is sold. */
  refused_ranges: z.array(z.string()),
  /** What its agent told at its last health check. */
  agent: AgentReport.nullable(),
  /** Does the agent hold what the console wants? */
  step: z.enum(['in step', 'behind', 'unreachable']),
  unreachable_since: Time.nullable(),
  /** Since when what is sent to its agent fails, whatever its health check says. */
  failing_since: Time.nullable(),
  status: z.enum(SERVER_STATUSES),
  /** Does stock count its free addresses? */
  sells: z.boolean(),
  /** The sentence of `trouble`, in English. */
  last_error: z.string().nullable(),
  trouble: z
    .object({
      code: z.enum(Object.keys(serverTroubles) as [ServerTrouble, ...ServerTrouble[]]),
      params: ReasonParams
    })
    .nullable(),
  /** The running or last provisioning, if any. */
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
  /** One range a line. */
  cidr: text(message('enter_cidr'), 100_000),
  description: optionalText(2000),
  port: port.default(22),
  /** Root's password, or a private key in PEM; empty leaves the stored one. */
  password: optionalText(20_000),
  agent_port: port.optional(),
  /** Empty leaves the stored one. It travels in a header. */
  agent_token: optionalText(512).refine(value => /^[!-~]*$/.test(value), message('forbidden_character')),
  /** PEM of the certificate that the agent shows; '' or null: it has none. Left out: as it is. */
  agent_certificate: z
    .string()
    .trim()
    .max(20_000)
    .refine(value => value === '' || value.startsWith('-----BEGIN CERTIFICATE-----'), message('must_be_certificate'))
    .nullish(),
  proxy_port: port.optional(),
  /** The agent has no certificate any more; whatever `agent_certificate` says. */
  forget_certificate: flag.default(false),
  /** Fingerprint of the machine's SSH host key, as `ssh-keygen -lf` prints it; empty leaves what is known. */
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
 * What a console that does not know what it told an agent last would do there: names of users, the first 1,000 of each, with
 * how many there are. `digest` names exactly this plan, for its approval.
 */
export const RepairPlan = z.object({
  digest: z.string(),
  at: Time,
  /** Users on the agent that the console knows nothing of, or wants gone. */
  removed: z.object({ count: z.number(), users: z.array(z.string()) }),
  /** Users that the agent holds otherwise than the console wants. */
  changed: z.object({ count: z.number(), users: z.array(z.string()) }),
  /** Users that the agent lacks. */
  added: z.object({ count: z.number(), users: z.array(z.string()) }),
  /** Ranges that the agent would lose. */
  ranges: z.object({ count: z.number(), ranges: z.array(z.string()) })
})
export type RepairPlan = z.infer<typeof RepairPlan>

export const HostKeyForm = z.object({ fingerprint: z.string().min(1).max(60) })
export const ApprovePlanForm = z.object({ digest: z.string().min(1).max(64) })
/** `owner`: the id of the console that the agent belongs to, as it was shown. */
export const TakeOverForm = z.object({ owner: z.string().regex(/^[A-Za-z0-9-]{1,64}$/) })

// What the server management asks of an agent.

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

/** The ranges to keep: a list, or one a line. */
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

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

export const AgentReply = z.object({ status: z.number(), output: z.unknown() })

export const Outage = z.object({
  id: z.number(),
  server_id: z.number(),
  started_at: Time,
  /** null: it lasts. */
  ended_at: Time.nullable(),
  /** An operator entered it. */
  by_hand: z.boolean()
})
export type Outage = z.infer<typeof Outage>

/** An outage beside those of other servers. */
export const OutageEntry = z.object({
  id: z.number(),
  server: IdName,
  started_at: Time,
  /** null: it lasts. */
  ended_at: Time.nullable(),
  /** Whole seconds, so far where it lasts. */
  seconds: z.number(),
  /** An operator entered it. */
  by_hand: z.boolean(),
  /** When the customers with addresses there were told; null: nobody was. */
  announced_at: Time.nullable(),
  /** Orders that had addresses there which should have worked. */
  orders: z.number(),
  /** Orders that it was credited to. */
  credited: z.number(),
  state: z.enum(OUTAGE_STATES),
  /** The locations that sell from its server now, as plans call them. */
  locations: z.array(IdName),
  /** The incident of the status page that it was; null: nobody said. */
  incident: z.object({ id: z.number(), title: z.string() }).nullable()
})
export type OutageEntry = z.infer<typeof OutageEntry>

/**
 * What an outage means for one order. `running`: its time runs; `grace`: it would be revived on the same addresses;
 * `ended`: its addresses are gone; `credited`: it was given its time back.
 */
export const OUTAGE_PARTS = ['running', 'grace', 'ended', 'credited'] as const
export const OutageOrder = z.object({
  id: z.number(),
  order_id: z.string(),
  username: z.string(),
  part: z.enum(OUTAGE_PARTS),
  /** What it would be credited with, or was. So far, where the outage lasts. */
  seconds: z.number()
})
export type OutageOrder = z.infer<typeof OutageOrder>

/** What would be concerned if a server were drained, moved or given up, and who would be credited for an outage. */
export const ServerImpact = z.object({
  /** Orders that are paid and run, and their addresses on this server. */
  orders: z.number(),
  addresses: z.number(),
  /** Of those orders, the ones that wait for this server to be delivered. */
  undelivered: z.number(),
  /** Orders that are not paid yet. */
  unpaid: z.number()
})
export type ServerImpact = z.infer<typeof ServerImpact>

/** Free addresses of a rule in a server group, before and after: IPv4 addresses, or IPv6 /64s. */
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

/** What an action on a server would do if it were done now. Nothing is changed by asking. */
export const ServerPlan = ServerImpact.extend({
  /** Live orders that find room elsewhere, and those that do not: they wait, or lose their addresses where it is given up. */
  moves: OrdersHeld,
  stays: OrdersHeld,
  /** The first of these, by their public ids. */
  staying: z.array(z.object({ order_id: z.string(), addresses: z.number() })),
  /** The same of reservations that are not paid: all of them end where it is given up. */
  reservations: z.object({ moves: OrdersHeld, stays: OrdersHeld }),
  stock: z.array(StockChange)
})
export type ServerPlan = z.infer<typeof ServerPlan>

/** What saving a server's form would do. */
export const ServerEditPlan = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  /** Ranges that stay and are loaded anew are not listed. `agent`: another address or token, so all is sent again. */
  agent: z.boolean(),
  /**
   * Another proxy port, which lists name at once and the agent serves once it is installed again; null where it stays.
   * `orders`: how many have proxies there. `installs`: whether saving the form installs it.
   */
  proxy_port: z.object({ from: z.number(), to: z.number(), orders: z.number(), installs: z.boolean() }).nullable(),
  stock: z.array(StockChange)
})
export type ServerEditPlan = z.infer<typeof ServerEditPlan>

export const GroupPlanForm = z.object({ servers: z.array(Id).max(250), remove: z.boolean().default(false) })
export type GroupPlanForm = z.output<typeof GroupPlanForm>

/** What another choice of servers, or its removal, would do to a group's plans and stock. */
export const GroupPlan = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  /** Names of variants that sell from it: with any of them it is not removed. */
  variants: z.array(z.string()),
  stock: z.array(StockChange)
})
export type GroupPlan = z.infer<typeof GroupPlan>

export const CreditPreview = z.object({
  /** Orders that would be credited now, of how many customers. */
  orders: z.number(),
  customers: z.number(),
  /** Those of them that have expired and are in their grace: they are revived for the time that they lost. */
  revived: z.number(),
  /** Orders that lost time and are past their grace: they get it only if an operator reopens them. */
  ended: z.number(),
  /** The first of these, with the seconds that each lost. `credited`: this was written down, and it can be reopened. */
  ended_meanwhile: z.array(
    z.object({ id: z.number(), order_id: z.string(), email: z.string(), seconds: z.number(), credited: z.boolean() })
  ),
  /** What the least and the most concerned order would get, and all of them together, in seconds. */
  lost: z.object({ least: z.number(), most: z.number(), total: z.number() }),
  /** Mails that would go out: one for each order that is served again. */
  mails: z.number(),
  /** Orders that were credited for this outage before. */
  credited: z.number(),
  /** How long the outage was. */
  seconds: z.number()
})
export type CreditPreview = z.infer<typeof CreditPreview>

/** Where orders go that leave a server: to another server, to another group, or (neither) to others of their own groups. */
export const MoveForm = z.object({ server_id: Id.optional(), group_id: Id.optional() })
export type MoveForm = z.output<typeof MoveForm>

/** Customers who are credited are told of this incident; left out, of the one that the outage names already. */
export const CreditOutageForm = z.object({ incident_id: Id.optional() }).optional()

export const OutageForm = z.object({ started_at: Instant(), ended_at: Instant() })
export type OutageForm = z.output<typeof OutageForm>
