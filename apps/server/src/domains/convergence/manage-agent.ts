import { type LiveConnections, message, needsCredentials, refuse } from '@netlet/contract'
import type { AgentEnded, AgentLogLines } from '@netlet/contract/agent-live'
import { z } from 'zod'
import { type Actor, type UserActor, mayDo } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { and, eq, inArray, isNotNull } from '../../infra/db/drizzle.ts'
import { fieldRefusal, formRefusal } from '../../infra/refusals.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import type { AgentClient, AgentResult, LogQuery } from '../../integrations/agent/index.ts'
import { parseJson } from '../../integrations/http-exchange.ts'
import { assignCidrs, parseCidr, serverCidrs } from '../inventory/index.ts'
import {
  type SyncContext,
  agentOf,
  allowRemovals,
  cidrRefusal,
  enqueueRepair,
  linesOf,
  readServerRow,
  removeUsersByHand,
  renewPrefixes,
  usersOutsideRanges
} from '../servers/index.ts'
import { agentUsers } from '../servers/tables.ts'
import {
  type AgentOutput,
  LOCK_WAIT_MS,
  callFailed,
  convergeNow,
  outputOf,
  refusedByAgent,
  requireAgent
} from './agent-calls.ts'
import { readConsole } from './ownership/claim-agent.ts'
import { repairServer } from './repair.ts'
import { rangesRefused } from './send-ranges.ts'

/** The most that an output panel shows. */
const SHOWN_BYTES = 256 * 1024

/** 65,536 users of one range each. A longer list is cut, so it cannot be read. */
const MOST_USERS_BYTES = 8 * 1024 * 1024
const UserList = z.object({ data: z.object({ users: z.array(z.unknown()) }) })

/**
 * Keeps these ranges of the server and unloads the others, with the users made by hand in them. Refused while orders
 * lease addresses of a range that would go.
 */
export async function resetAllProxy(
  ctx: SyncContext,
  by: Actor,
  serverId: number,
  cidrs: string[] | string
): Promise<Result<AgentOutput>> {
  const keep: string[] = []
  for (const text of typeof cidrs === 'string' ? linesOf(cidrs) : cidrs) {
    const parsed = parseCidr(text)
    if (!parsed.ok) return fieldRefusal('cidrs', 'invalid_lines', { problem: parsed.message })
    keep.push(parsed.cidr)
  }
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  const reset = await command(ctx, by, async unit => {
    const present = await serverCidrs(unit.tx, serverId)
    const unknown = keep.find(cidr => !present.includes(cidr))
    if (unknown) return fieldRefusal('cidrs', 'cidr_not_on_server', { cidr: unknown })
    const assigned = await assignCidrs(unit, serverId, keep)
    if (!assigned.ok) return cidrRefusal(unit.tx, assigned)
    await removeUsersByHand(unit, serverId, await usersOutsideRanges(unit.tx, serverId))
    await renewPrefixes(unit, serverId)
    unit.audit('server.reset_ranges', serverId, { before: { cidrs: present }, after: { cidrs: keep } })
    unit.publish('cidr')
    return done
  })
  if (!reset.ok) return reset
  const synced = await convergeNow(ctx, serverId)
  if (!synced.ok) return synced
  const loaded = synced.data.ranges
  if (loaded && 'message' in loaded) return refusedByAgent(rangesRefused(loaded.message))
  if (loaded) return ok({ status: 200, output: loaded.reply })
  // Another process was quicker. The agent already has the ranges, and its answer says so.
  return outputOf(await found.data.agent.raw('POST', '/api/reload', {}))
}

export async function flushAccessLog(ctx: SyncContext, by: Actor, serverId: number): Promise<Result<AgentOutput>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  await command(ctx, by, async unit => unit.audit('server.request_flush', serverId))
  return outputOf(await found.data.agent.raw('POST', '/api/flush-access-log', {}))
}

/** The agent's deny list as lines of `user domain`, cut if it is long. */
export async function listAcl(ctx: SyncContext, serverId: number): Promise<Result<AgentOutput>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  return outputOf(await found.data.agent.raw('GET', '/api/export/user.acl', undefined, SHOWN_BYTES))
}

/**
 * What the agent says about itself and its users. Names and addresses are half of what opens a proxy, so administrators
 * who may not read credentials get null for them.
 */
export async function serverInfo(
  ctx: SyncContext,
  by: UserActor,
  serverId: number
): Promise<Result<{ server_info: unknown; user_list: unknown }>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  const { agent } = found.data
  if (!mayDo(by, 'orders.credentials')) {
    const seen = await agent.info()
    return seen.ok ? ok({ server_info: seen.data, user_list: null }) : callFailed(seen.message)
  }
  const [info, users] = await Promise.all([
    agent.info(),
    agent.raw('GET', '/api/view-all-users', undefined, MOST_USERS_BYTES)
  ])
  if (!info.ok) return callFailed(info.message)
  if (!users.ok) return callFailed(users.message)
  const { status, body } = users.data
  const list = UserList.safeParse(parseJson(body))
  if (!list.success) return callFailed(`The agent's list of users cannot be read (HTTP ${status})`)
  return ok({ server_info: info.data, user_list: list.data.data.users })
}

/**
 * Passes a call to this server's agent. The next repair undoes what it changes there. Calls that may show or change who
 * uses a proxy need `orders.credentials`, too.
 */
export async function requestApi(
  ctx: SyncContext,
  by: UserActor,
  serverId: number,
  call: { uri: string; json_input: string | Record<string, unknown> }
): Promise<Result<AgentOutput>> {
  const body = typeof call.json_input === 'string' ? parseJson(call.json_input) : call.json_input
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return formRefusal({ json_input: message('enter_json_input') })
  // Each role that changes servers has this permission, but not each token.
  if (needsCredentials(call) && !mayDo(by, 'orders.credentials'))
    return refuse('key_permission_missing', { params: { permission: 'orders.credentials' } })
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  const after = { uri: call.uri, body: abridged(body) }
  await command(ctx, by, async unit => unit.audit('server.request_call', serverId, { after }))
  return outputOf(await found.data.agent.raw('POST', call.uri, body, SHOWN_BYTES))
}

/**
 * Keeps megabytes of deny lists out of the audit log. The log recognises secrets by field names only, and an
 * administrator wrote this body freely.
 */
const abridged = (body: object): unknown => {
  const size = JSON.stringify(body).length
  return size > 10_000 ? { fields: Object.keys(body), characters: size } : body
}

/** Approves the waiting removals, and does them. */
export async function applyRemovals(ctx: SyncContext, by: Actor, serverId: number): Promise<Result<AgentOutput>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  await command(ctx, by, async unit => {
    await allowRemovals(unit, serverId, true)
    unit.audit('server.allow_removals', serverId)
  })
  const repair = await repairServer(ctx, serverId, LOCK_WAIT_MS)
  if (repair.kind === 'gone') return refuse('not_found')
  if (repair.kind === 'failed') return callFailed(repair.message)
  // The waiting plan says more than a number of removals.
  if (repair.kind === 'foreign' || repair.kind === 'planned') return refuse('stale')
  if (repair.kind !== 'compared') {
    await command(ctx, by, async unit => enqueueRepair(unit, serverId))
    return ok({
      status: 202,
      output: 'Approved. The users are removed after the other changes of this server.'
    })
  }
  const { removed, waiting } = repair
  return ok({ status: 200, output: { deleted: removed.length, users: removed.slice(0, 1000), waiting } })
}

/** A screen asks every few seconds, so a later answer is useless. */
const ANSWER_MS = 5000

async function agentAt(ctx: SyncContext, serverId: number): Promise<Result<AgentClient>> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return refuse('not_found')
  const { id } = await readConsole(ctx)
  return ok(agentOf(server, ctx.secrets, ANSWER_MS, { console: { id } }))
}

function answered<T>(reply: AgentResult<T>): Result<T> {
  if (reply.ok) return ok(reply.data)
  // An older agent does not know the call.
  return reply.kind === 'refused' ? refusedByAgent(reply.message) : callFailed(reply.message)
}

/** The open connections on a server, by user or of one user, with the users' orders. */
export async function liveConnections(
  ctx: SyncContext,
  serverId: number,
  user: string | undefined
): Promise<Result<LiveConnections>> {
  const agent = await agentAt(ctx, serverId)
  if (!agent.ok) return agent
  const reply = answered(await agent.data.connections(user))
  if (!reply.ok) return reply
  const names = user === undefined ? reply.data.users.map(row => row.user) : [user]
  const rows =
    names.length === 0
      ? []
      : await ctx.db
          .select({ username: agentUsers.username, orderId: agentUsers.orderId })
          .from(agentUsers)
          .where(
            and(eq(agentUsers.serverId, serverId), inArray(agentUsers.username, names), isNotNull(agentUsers.orderId))
          )
  const orders = Object.fromEntries(rows.flatMap(row => (row.orderId === null ? [] : [[row.username, row.orderId]])))
  return ok({ ...reply.data, orders })
}

/** Ends a user's connections; the user may open others. Audited first, because the agent may not confirm. */
export async function endConnections(
  ctx: SyncContext,
  by: Actor,
  serverId: number,
  { user, connection }: { user: string; connection?: string | undefined }
): Promise<Result<AgentEnded>> {
  const agent = await agentAt(ctx, serverId)
  if (!agent.ok) return agent
  await command(ctx, by, async unit => unit.audit('server.end_connections', serverId, { after: { user, connection } }))
  return answered(await agent.data.endConnections(user, connection))
}

/** The newest lines of a server's access log. The agent keeps them only while a console asks for them. */
export async function followLog(ctx: SyncContext, serverId: number, query: LogQuery): Promise<Result<AgentLogLines>> {
  const agent = await agentAt(ctx, serverId)
  return agent.ok ? answered(await agent.data.followLog(query)) : agent
}
