import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { page, listQuery } from './list.ts'
import { serverTroubles, type ServerTrouble } from './messages.ts'
import { Done, Id, IdName, IdParams, ReasonParams, Time, formVersion, optionalText, text } from './shapes.ts'

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

const S = '/api/servers'
const one = `${S}/servers/:id`
const action = <B extends z.ZodType>(name: string, summary: string, body: B) =>
  route('POST', `${one}/${name}/`, { summary, access: 'admin', params: IdParams, body, reply: AgentReply })
const username = z
  .string({ error: message('enter_proxy_user') })
  .trim()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, message('enter_proxy_user'))
const nothing = z.object({}).optional()

export const fleet = {
  groups: route('GET', `${S}/server-groups/`, {
    summary: 'Server groups',
    access: 'admin',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(ServerGroup)
  }),
  createGroup: route('POST', `${S}/server-groups/`, {
    summary: 'Add a server group',
    access: 'admin',
    body: ServerGroupForm,
    reply: ServerGroup
  }),
  updateGroup: route('PUT', `${S}/server-groups/:id/`, {
    summary: 'Edit a server group',
    access: 'admin',
    params: IdParams,
    body: ServerGroupForm.extend(formVersion),
    reply: ServerGroup
  }),
  deleteGroup: route('DELETE', `${S}/server-groups/:id/`, {
    summary: 'Delete a server group that no variant sells from',
    access: 'admin',
    params: IdParams,
    reply: Done
  }),
  servers: route('GET', `${S}/servers/`, {
    summary: 'Servers',
    access: 'admin',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(Server)
  }),
  createServer: route('POST', `${S}/servers/`, {
    summary: 'Add a server',
    access: 'admin',
    body: ServerForm,
    reply: Server
  }),
  updateServer: route('PUT', `${S}/servers/:id/`, {
    summary: 'Edit a server',
    access: 'admin',
    params: IdParams,
    body: ServerForm.extend(formVersion),
    reply: Server
  }),
  deleteServer: route('DELETE', `${S}/servers/:id/`, {
    summary: 'Delete a server without live leases',
    access: 'admin',
    params: IdParams,
    reply: Done
  }),
  createUserByPrefix: action(
    'create_user_by_prefix',
    'Create a proxy user by hand; stock does not know of it',
    z.object({
      id: Id.optional(),
      username,
      prefix: text(message('enter_prefix'), 64),
      acl_group: z.union(Id.options, { error: message('select_acl_group') })
    })
  ),
  deleteUser: action('delete_user', 'Delete a proxy user', z.object({ username })),
  deleteAllUser: action('delete_all_user', 'Delete all proxy users that no order owns', nothing),
  resetAllProxy: action(
    'reset_all_proxy',
    'Set the ranges to keep; the others are unloaded',
    z.object({ cidrs: z.union([z.array(z.string().max(64)).max(10_000), z.string().max(100_000)]) })
  ),
  flushAccessLog: action('flush_access_log', "Empty the agent's access log", nothing),
  listAcl: action('list_acl', "The agent's deny list", nothing),
  serverInfo: route('GET', `${one}/get_server_info/`, {
    summary: "The agent's own view",
    access: 'admin',
    params: IdParams,
    reply: z.object({ server_info: z.unknown(), user_list: z.unknown() })
  }),
  requestApi: action(
    'request_api',
    'Pass a raw call to the agent, as POST with JSON',
    z.object({
      uri: z
        .string({ error: message('enter_uri') })
        .trim()
        .max(500)
        .regex(/^\/api(\/(?!\.+(\/|$))[A-Za-z0-9._-]+)+\/?$/, message('enter_uri')),
      json_input: z.union([z.string().trim().min(1, message('enter_json_input')), z.record(z.string(), z.unknown())], {
        error: message('enter_json_input')
      })
    })
  ),
  applyRemovals: action(
    'apply_removals',
    'Let the agent remove more users in one go than the safety limit allows',
    nothing
  )
}
