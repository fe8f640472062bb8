import { z } from 'zod'
import { BulkRun } from './bulk.ts'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { page, listQuery } from './list.ts'
import { Done, Id, IdParams, formVersion, text } from './shapes.ts'
import {
  ServerGroup,
  ServerGroupForm,
  Server,
  ServerForm,
  AgentReply,
  Outage,
  ServerImpact,
  CreditPreview,
  MoveForm,
  OutageForm
} from './servers.ts'

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
  impact: route('GET', `${one}/impact/`, {
    summary: 'How many orders and addresses would be concerned if the server were drained, moved or given up',
    access: 'admin',
    params: IdParams,
    reply: ServerImpact
  }),
  pause: route('POST', `${one}/pause/`, {
    summary: 'Sell nothing from the server; what it serves goes on',
    access: 'admin',
    params: IdParams,
    body: nothing,
    reply: Server
  }),
  resume: route('POST', `${one}/resume/`, {
    summary: 'Sell from a paused or draining server again',
    access: 'admin',
    params: IdParams,
    body: nothing,
    reply: Server
  }),
  drain: route('POST', `${one}/drain/`, {
    summary: 'Sell nothing from the server, and move its orders to other servers of their groups as room allows',
    access: 'admin',
    params: IdParams,
    body: nothing,
    reply: BulkRun.nullable()
  }),
  moveOrders: route('POST', `${one}/move/`, {
    summary: "Move the server's orders to another server or group; their customers are told",
    access: 'admin',
    params: IdParams,
    body: MoveForm,
    reply: BulkRun.nullable()
  }),
  giveUp: route('POST', `${one}/give_up/`, {
    summary:
      'Give the server up for good: its orders move or lose their addresses there, and nothing waits for its agent',
    access: 'admin',
    params: IdParams,
    body: nothing,
    reply: BulkRun.nullable()
  }),
  takeBack: route('POST', `${one}/take_back/`, {
    summary: 'Use a server again that was given up: it sells once its agent was compared',
    access: 'admin',
    params: IdParams,
    body: nothing,
    reply: Server
  }),
  outages: route('GET', `${one}/outages/`, {
    summary: 'When the server did not answer, newest first',
    access: 'admin',
    params: IdParams,
    query: listQuery({ sort: ['id'] }),
    reply: page(Outage)
  }),
  addOutage: route('POST', `${one}/outages/`, {
    summary: 'Enter an outage by hand, so that it can be credited',
    access: 'admin',
    params: IdParams,
    body: OutageForm,
    reply: Outage
  }),
  previewCredit: route('GET', `${S}/outages/:id/credit/`, {
    summary: 'How many orders an outage would be credited to',
    access: 'admin',
    params: IdParams,
    reply: CreditPreview
  }),
  creditOutage: route('POST', `${S}/outages/:id/credit/`, {
    summary: 'Give the time of an outage back to all orders that had live addresses there; once for each order',
    access: 'admin',
    params: IdParams,
    body: nothing,
    reply: BulkRun.nullable()
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
