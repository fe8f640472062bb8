import { z } from 'zod'
import { Traffic, TrafficQuery } from './traffic.ts'
import { BulkRun } from './bulk.ts'
import { CustomerNote } from './customer-note.ts'
import { exitCheck } from './exit-check.ts'
import { fleetLive } from './fleet-live.ts'
import { geofeedRoutes } from './geofeed.ts'
import { proofRoutes } from './proofs.ts'
import { route } from './route.ts'
import { Paging, page, listQuery } from './list.ts'
import { Done, Id, IdName, IdParams, Instant, formVersion } from './shapes.ts'
import {
  ServerGroup,
  ServerGroupForm,
  Server,
  ServerForm,
  AgentReply,
  ServerImpact,
  ServerPlan,
  ServerEditPlan,
  RepairPlan,
  ApprovePlanForm,
  HostKeyForm,
  TakeOverForm,
  GroupPlan,
  GroupPlanForm,
  PLANNED_ACTIONS,
  ProvisionForm,
  CreateProxyUserForm,
  DeleteProxyUserForm,
  ResetProxiesForm,
  AgentCallForm,
  needsCredentials,
  SERVER_STATUSES,
  MoveOrdersForm
} from './servers.ts'
import { CreditOutageForm, CreditPreview, Outage, OutageEntry, OutageForm, OutageOrder } from './outages.ts'
import { proxyTlsRoutes } from './proxy-tls.ts'
import { upgrades } from './upgrades.ts'
import { OUTAGE_STATES, SERVER_VIEWS } from './states.ts'

const S = '/api/servers'
const one = `${S}/servers/:id`
const action = <B extends z.ZodType>(name: string, summary: string, body: B) =>
  route('POST', `${one}/${name}/`, {
    summary,
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body,
    reply: AgentReply
  })
const nothing = z.object({}).optional()
/**
 * `expected`: refused as stale if the server's state differs. `changes`, from an earlier answer: also refused if the
 * state has changed since, even back to `expected`.
 */
const statusForm = z
  .object({ expected: z.enum(SERVER_STATUSES).optional(), changes: z.int().nonnegative().optional() })
  .optional()
/** `started_at` of the first step identifies the installation; refused as stale if another one runs. */
const cancelForm = z.object({ started_at: Instant().optional() }).optional()
/** `changes` counts the changes of state, including this one; null if this call changed nothing. */
const ChangedServer = Server.extend({ changes: z.number().nullable() })

export const fleet = {
  ...fleetLive,
  ...exitCheck,
  ...upgrades,
  ...proxyTlsRoutes,
  ...proofRoutes,
  ...geofeedRoutes,
  groups: route('GET', `${S}/server-groups/`, {
    summary: 'Server groups',
    access: 'admin',
    permission: 'servers.view',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(ServerGroup)
  }),
  createGroup: route('POST', `${S}/server-groups/`, {
    summary: 'Add a server group',
    access: 'admin',
    permission: 'servers.change',
    body: ServerGroupForm,
    reply: ServerGroup
  }),
  updateGroup: route('PUT', `${S}/server-groups/:id/`, {
    summary: 'Edit a server group',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: ServerGroupForm.extend(formVersion),
    reply: ServerGroup
  }),
  deleteGroup: route('DELETE', `${S}/server-groups/:id/`, {
    summary: 'Delete a server group that no variant sells from',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    reply: Done
  }),
  servers: route('GET', `${S}/servers/`, {
    summary: 'Servers',
    access: 'admin',
    permission: 'servers.view',
    query: listQuery({ sort: ['id'], order: 'asc', filters: { state: z.enum(SERVER_VIEWS).optional() } }),
    reply: page(Server)
  }),
  serverNames: route('GET', `${S}/server-names/`, {
    summary: 'Server names, for a picker',
    access: 'admin',
    permission: 'servers.view',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(IdName)
  }),
  server: route('GET', `${one}/`, {
    summary: 'A server',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: Server
  }),
  traffic: route('GET', `${one}/traffic/`, {
    summary: "A server's traffic by hour or day, with refusals and failures",
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    query: TrafficQuery,
    reply: Traffic
  }),
  planGroup: route('POST', `${S}/server-groups/:id/plan/`, {
    summary: 'Preview changing or deleting a server group: effect on plans and stock; nothing changes',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: GroupPlanForm,
    reply: GroupPlan
  }),
  createServer: route('POST', `${S}/servers/`, {
    summary: 'Add a server',
    access: 'admin',
    permission: 'servers.change',
    needsConfirmation: { asks: form => Boolean(form.password || form.agent_token) },
    body: ServerForm,
    reply: Server
  }),
  updateServer: route('PUT', `${S}/servers/:id/`, {
    summary: 'Edit a server',
    access: 'admin',
    permission: 'servers.change',
    // They decide which machine gets the stored secrets, and whether those are sent in the clear.
    needsConfirmation: {
      asks: ({ password, agent_token, agent_certificate, forget_certificate, host_key }) =>
        Boolean(password || agent_token || forget_certificate || host_key) || agent_certificate !== undefined
    },
    params: IdParams,
    body: ServerForm.extend(formVersion),
    reply: Server
  }),
  deleteServer: route('DELETE', `${S}/servers/:id/`, {
    summary: 'Delete a server without live leases',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    reply: Done
  }),
  planEdit: route('POST', `${one}/plan_edit/`, {
    summary: 'Preview saving a server: effect on ranges and stock; nothing changes',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: ServerForm.extend(formVersion),
    reply: ServerEditPlan
  }),
  plan: route('GET', `${one}/plan/`, {
    summary: 'Preview an action on a server: effect on orders and stock; nothing changes',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    query: z.object({ action: z.enum(PLANNED_ACTIONS), server_id: Id.optional(), group_id: Id.optional() }),
    reply: ServerPlan
  }),
  agentVersion: route('GET', `${S}/agent_version/`, {
    summary: 'Agent version that an installation would install',
    access: 'admin',
    permission: 'servers.view',
    reply: z.object({ version: z.string() })
  }),
  provision: route('POST', `${one}/provision/`, {
    summary: 'Install and start the agent over SSH, or load the ranges, with the saved settings',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: ProvisionForm,
    reply: Server
  }),
  cancelProvision: route('POST', `${one}/provision/cancel/`, {
    summary: 'Cancel an installation; installed files stay, and a reinstallation continues from there',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: cancelForm,
    reply: Server
  }),
  acceptHostKey: route('POST', `${one}/accept_host_key/`, {
    summary: 'Accept an SSH host key that was refused',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: HostKeyForm,
    reply: Server
  }),
  impact: route('GET', `${one}/impact/`, {
    summary: 'Orders and addresses that draining, moving or giving up a server would affect',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: ServerImpact
  }),
  pause: route('POST', `${one}/pause/`, {
    summary: 'Pause a server: it stops selling, and its orders keep working',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: statusForm,
    reply: ChangedServer
  }),
  resume: route('POST', `${one}/resume/`, {
    summary: 'Resume sales from a paused or draining server',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: statusForm,
    reply: ChangedServer
  }),
  drain: route('POST', `${one}/drain/`, {
    summary: 'Drain a server: it stops selling, and its orders move to other servers in their groups',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: CustomerNote.optional(),
    reply: BulkRun.nullable()
  }),
  moveOrders: route('POST', `${one}/move/`, {
    summary: "Move a server's orders to another server or group; customers get an email",
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: MoveOrdersForm,
    reply: BulkRun.nullable()
  }),
  giveUp: route('POST', `${one}/give_up/`, {
    summary: 'Give up a server permanently: its orders move or lose their addresses, without waiting for its agent',
    access: 'admin',
    permission: 'servers.change',
    needsConfirmation: true,
    params: IdParams,
    body: CustomerNote.optional(),
    reply: BulkRun.nullable()
  }),
  takeBack: route('POST', `${one}/take_back/`, {
    summary: 'Take back a server that was given up; it sells again after a check of its agent',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: nothing,
    reply: Server
  }),
  outages: route('GET', `${one}/outages/`, {
    summary: 'Outages of a server, newest first',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    query: listQuery({ sort: ['id'] }),
    reply: page(Outage)
  }),
  addOutage: route('POST', `${one}/outages/`, {
    summary: 'Add an outage manually, so that you can credit it',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: OutageForm,
    reply: Outage
  }),
  allOutages: route('GET', `${S}/outages/`, {
    summary: 'Outages, newest first; search by server name or IP',
    access: 'admin',
    permission: 'servers.view',
    query: listQuery({
      sort: ['id'],
      filters: { server_id: Id.optional(), state: z.enum(OUTAGE_STATES).optional() }
    }),
    reply: page(OutageEntry)
  }),
  outage: route('GET', `${S}/outages/:id/`, {
    summary: 'One outage',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: OutageEntry
  }),
  removeOutage: route('DELETE', `${S}/outages/:id/`, {
    summary: 'Delete a manually entered outage that was not credited',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    reply: Done
  }),
  outageOrders: route('GET', `${S}/outages/:id/orders/`, {
    summary: 'Orders affected by an outage, with the time that each lost or was credited',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    query: Paging,
    reply: z.object({ data: z.array(OutageOrder), total: z.number(), limit: z.number(), offset: z.number() })
  }),
  previewCredit: route('GET', `${S}/outages/:id/credit/`, {
    summary: 'Preview crediting an outage; nothing changes',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: CreditPreview
  }),
  creditOutage: route('POST', `${S}/outages/:id/credit/`, {
    summary: 'Credit an outage to all orders with live addresses on the server; once for each order',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: CreditOutageForm,
    reply: BulkRun.nullable()
  }),
  createUserByPrefix: action(
    'create_user_by_prefix',
    'Create a proxy user manually; stock does not count it',
    CreateProxyUserForm
  ),
  deleteUser: action('delete_user', 'Delete a proxy user', DeleteProxyUserForm),
  deleteAllUser: action('delete_all_user', 'Delete all proxy users that belong to no order', nothing),
  resetAllProxy: action('reset_all_proxy', 'Set the ranges to keep, and unload all others', ResetProxiesForm),
  flushAccessLog: action('flush_access_log', "Empty the agent's access log", nothing),
  listAcl: action('list_acl', "The agent's deny list", nothing),
  serverInfo: route('GET', `${one}/get_server_info/`, {
    summary: "The agent's users and state; `user_list` is null if your role cannot see credentials",
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: z.object({ server_info: z.unknown(), user_list: z.unknown() })
  }),
  requestApi: {
    ...action(
      'request_api',
      'Send a POST request with JSON to the agent; those about credentials need `orders.credentials`, too',
      AgentCallForm
    ),
    needsConfirmation: { asks: needsCredentials }
  },
  repairPlan: route('GET', `${one}/repair_plan/`, {
    summary: 'Changes that need approval, because the agent has data that this console does not know',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: RepairPlan.nullable()
  }),
  approvePlan: action('approve_plan', 'Approve that plan and apply it', ApprovePlanForm),
  takeOver: action('take_over', 'Take over an agent from another console', TakeOverForm),
  rotateToken: route('POST', `${one}/rotate_token/`, {
    summary: "Replace the agent's token",
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    reply: Done
  }),
  applyRemovals: action('apply_removals', 'Approve removing more users at once than the safety limit allows', nothing)
}
