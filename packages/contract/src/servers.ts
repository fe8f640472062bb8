import { z } from 'zod'
import { message } from './form-messages.ts'
import { serverTroubles, type ServerTrouble } from './messages.ts'
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
 * What an operator made of a server. `paused`: it sells nothing and serves on. `draining`: its orders leave it as well.
 * `given_up`: gone for good. `returning`: taken back, and it sells again once its agent was compared.
 */
export const SERVER_STATUSES = ['active', 'paused', 'draining', 'given_up', 'returning'] as const
export type ServerStatus = (typeof SERVER_STATUSES)[number]

/** The steps of a provisioning over SSH, in their order. */
export const PROVISIONING_STEPS = [
  'waiting',
  'connect',
  'examine',
  'upload',
  'configure',
  'start',
  'wait',
  'ranges',
  'done'
] as const
export type ProvisioningStep = (typeof PROVISIONING_STEPS)[number]

export const Provisioning = z.object({
  status: z.enum(['running', 'done', 'failed']),
  step: z.enum(PROVISIONING_STEPS),
  message: z.string(),
  at: Time
})
export type Provisioning = z.infer<typeof Provisioning>

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
  agent_port: z.number(),
  /** The management API answers with TLS, and only with this server's own certificate. */
  has_certificate: z.boolean(),
  proxy_port: z.number(),
  cidrs: z.array(z.object({ id: z.number(), cidr: z.string(), ip_count: z.number(), name: z.string() })),
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
  /** The machine was reinstalled: its next SSH host key is taken as the right one. */
  forget_host_key: flag.default(false),
  run_init: flag.default(false),
  update_cidr: flag.default(false)
})

export type ServerForm = z.output<typeof ServerForm>

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
  /** Orders that were credited for this outage before. */
  credited: z.number(),
  /** How long the outage was. */
  seconds: z.number()
})
export type CreditPreview = z.infer<typeof CreditPreview>

/** Where orders go that leave a server: to another server, to another group, or (neither) to others of their own groups. */
export const MoveForm = z.object({ server_id: Id.optional(), group_id: Id.optional() })
export type MoveForm = z.output<typeof MoveForm>

const instant = z.iso.datetime({ offset: true, error: message('enter_time') })
export const OutageForm = z.object({ started_at: instant, ended_at: instant })
export type OutageForm = z.output<typeof OutageForm>
