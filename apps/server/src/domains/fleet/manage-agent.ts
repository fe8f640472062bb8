import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { transact } from '../../infra/db/transact.ts'
import { ok, type Result } from '../../infra/result.ts'
import { record } from '../audit/index.ts'
import { assignCidrs, parseCidr, serverCidrs } from '../inventory/index.ts'
import { byHandOutside, unwantByHand } from './by-hand.ts'
import { renewPrefixes } from './desired.ts'
import { away, followNow, LOCK_WAIT_MS, reach, readBody, shown, type Managing, type Shown } from './manage.ts'
import { repairQueue } from './queues.ts'
import { cidrRefusal } from './refusals.ts'
import { repairServer } from './repair.ts'
import { linesOf } from './save-server.ts'
import { servers } from './tables.ts'

/** An output panel shows no more than this. */
const SHOWN_BYTES = 256 * 1024

/**
 * Keeps these ranges of the server and unloads the others, with the users made by hand on them. Refused while orders
 * lease addresses of a range left out.
 */
export async function resetAllProxy(
  ctx: Managing,
  actor: Actor,
  serverId: number,
  cidrs: string[] | string
): Promise<Result<Shown>> {
  const keep: string[] = []
  for (const text of typeof cidrs === 'string' ? linesOf(cidrs) : cidrs) {
    const parsed = parseCidr(text)
    if (!parsed.ok) return refuse('invalid_cidr', { msg: parsed.message, data: { errors: { cidrs: parsed.message } } })
    keep.push(parsed.cidr)
  }
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  const reset = await transact(ctx.db, async tx => {
    const present = await serverCidrs(tx, serverId)
    const unknown = keep.find(cidr => !present.includes(cidr))
    if (unknown) {
      const msg = `${unknown} is no range of this server`
      return refuse('invalid_cidr', { msg, data: { errors: { cidrs: msg } } })
    }
    const assigned = await assignCidrs(tx, serverId, keep)
    if (!assigned.ok) return cidrRefusal(tx, assigned)
    await unwantByHand(tx, ctx.jobs, serverId, await byHandOutside(tx, serverId))
    await renewPrefixes(tx, ctx.jobs, serverId)
    const entry = { action: 'reset ranges', targetType: 'server', targetId: serverId }
    await record(tx, actor, { ...entry, before: { cidrs: present }, after: { cidrs: keep } })
    return ok(null)
  })
  if (!reset.ok) return reset
  const followed = await followNow(ctx, serverId)
  if (!followed.ok) return followed
  const loaded = followed.data.prefixes
  if (loaded && 'message' in loaded) return refuse('agent_refused', { msg: loaded.message })
  if (loaded) return ok({ status: 200, output: loaded.reply })
  // Another process was quicker: the agent has the ranges, and says so when asked.
  return shown(await reached.data.agent.raw('POST', '/api/reload', {}))
}

export async function flushAccessLog(ctx: Managing, actor: Actor, serverId: number): Promise<Result<Shown>> {
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  const entry = { action: 'flush access log', targetType: 'server', targetId: serverId }
  await record(ctx.db, actor, entry)
  return shown(await reached.data.agent.raw('POST', '/api/flush-access-log', {}))
}

/** The agent's deny list, lines of `user domain`; the beginning of it where it is long. */
export async function listAcl(ctx: Managing, serverId: number): Promise<Result<Shown>> {
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  return shown(await reached.data.agent.raw('GET', '/api/export/user.acl', undefined, SHOWN_BYTES))
}

/** The agent's own view of itself and its users. */
export async function serverInfo(
  ctx: Managing,
  serverId: number
): Promise<Result<{ server_info: unknown; user_list: unknown }>> {
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  const { agent } = reached.data
  const [info, users] = await Promise.all([agent.info(), agent.raw('GET', '/api/view-all-users')])
  if (!info.ok) return away(info.message)
  if (!users.ok) return away(users.message)
  const list = readBody(users.data.body) as { data?: { users?: unknown } }
  return ok({ server_info: info.data, user_list: list.data?.users ?? [] })
}

/** Passes a call to this one server's agent. What it changes there is none of the console's: repair looks it over. */
export async function requestApi(
  ctx: Managing,
  actor: Actor,
  serverId: number,
  call: { uri: string; json_input: string | Record<string, unknown> }
): Promise<Result<Shown>> {
  const body = typeof call.json_input === 'string' ? readBody(call.json_input) : call.json_input
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const msg = 'please enter a correct json_input'
    return refuse('invalid', { msg, data: { errors: { json_input: msg } } })
  }
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  const entry = {
    action: 'call agent',
    targetType: 'server',
    targetId: serverId,
    after: { uri: call.uri, body: briefly(body) }
  }
  await record(ctx.db, actor, entry)
  return shown(await reached.data.agent.raw('POST', call.uri, body, SHOWN_BYTES))
}

/** For the audit log, which is no place for megabytes of deny lists. */
const briefly = (body: object): unknown => {
  const size = JSON.stringify(body).length
  return size > 10_000 ? { fields: Object.keys(body), characters: size } : body
}

/** Gives the word that what waits for removal may go, and removes it. */
export async function applyRemovals(ctx: Managing, actor: Actor, serverId: number): Promise<Result<Shown>> {
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  await ctx.db.transaction(async tx => {
    await tx.update(servers).set({ removalsAllowed: true }).where(eq(servers.id, serverId))
    await record(tx, actor, { action: 'allow removals', targetType: 'server', targetId: serverId })
  })
  const repair = await repairServer(ctx, serverId, LOCK_WAIT_MS)
  if (repair.kind === 'gone') return refuse('not_found')
  if (repair.kind === 'unreachable') return away(repair.message)
  if (repair.kind !== 'compared') {
    await ctx.jobs.send(ctx.db, repairQueue, { serverId }, { key: String(serverId) })
    return ok({ status: 202, output: 'Allowed. The removal follows when other changes of this server are through.' })
  }
  const { removed, waiting } = repair
  return ok({ status: 200, output: { deleted: removed.length, users: removed.slice(0, 1000), waiting } })
}
