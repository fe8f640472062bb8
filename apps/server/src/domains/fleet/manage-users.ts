import { refuse } from '@netlet/contract'
import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import type { Executor } from '../../infra/db/client.ts'
import { transact } from '../../infra/db/transact.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { randomCode } from '../../infra/secrets.ts'
import { record } from '../audit/index.ts'
import { groupRules, parseCidr, serverOwns } from '../inventory/index.ts'
import { orders } from '../orders/tables.ts'
import { unwantByHand } from './by-hand.ts'
import { wantUsers } from './desired.ts'
import { withServerLock } from './lock.ts'
import { away, followNow, LOCK_WAIT_MS, reach, type Managing, type Shown } from './manage.ts'
import { agentUsers } from './tables.ts'

const invalid = (field: string, msg: string) => refuse('invalid', { msg, data: { errors: { [field]: msg } } })

/** Makes a proxy user that no order knows, with the group's rules as if bought: all the other rules are denied to it. */
export async function createUserByPrefix(
  ctx: Managing,
  actor: Actor,
  serverId: number,
  form: { username: string; prefix: string; acl_group: number }
): Promise<Result<Shown>> {
  const { username } = form
  const prefix = parseCidr(form.prefix)
  if (!prefix.ok) return invalid('prefix', prefix.message)
  if (prefix.units > 65_536) return invalid('prefix', `${prefix.cidr} is too large: at most a /16`)
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  const wanted = await transact(ctx.db, async tx => {
    const rules = await groupRules(tx, form.acl_group)
    if (!rules) return invalid('acl_group', 'please select a acl_group')
    if (!(await serverOwns(tx, serverId, prefix.cidr))) {
      return invalid('prefix', `${prefix.cidr} is not within the ranges of this server`)
    }
    if (await ownedByOrder(tx, username)) return refuse('in_use', { msg: `The user ${username} belongs to an order` })
    const [taken] = await tx
      .select({ wanted: agentUsers.wanted })
      .from(agentUsers)
      .where(and(eq(agentUsers.serverId, serverId), eq(agentUsers.username, username)))
      .for('update')
    if (taken?.wanted) return refuse('name_taken', { msg: `The user ${username} is already on this server` })
    const password = randomCode(14)
    await wantUsers(tx, ctx.jobs, [{ serverId, username, orderId: null, password, prefixes: [prefix.cidr], rules }])
    const after = { username, prefix: prefix.cidr, acl_group: form.acl_group, rules }
    const entry = { action: 'create proxy user', targetType: 'server', targetId: serverId, after }
    await record(tx, actor, entry)
    return done
  })
  if (!wanted.ok) return wanted
  const followed = await followNow(ctx, serverId)
  if (!followed.ok) return followed
  const outcome = followed.data.users.get(username)
  if (outcome?.kind === 'refused') {
    // What the agent will not have is not wanted any longer.
    await ctx.db.transaction(tx => unwantByHand(tx, ctx.jobs, serverId, [username]))
    return refuse('agent_refused', { msg: outcome.message })
  }
  if (outcome?.kind === 'applied') return ok({ status: 200, output: outcome.reply })
  return viewUser(ctx, serverId, username)
}

/** Takes a user off the server, unless an order owns it. */
export async function deleteProxyUser(
  ctx: Managing,
  actor: Actor,
  serverId: number,
  username: string
): Promise<Result<Shown>> {
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  const unwanted = await transact(ctx.db, async tx => {
    const [row] = await tx
      .select({ orderId: agentUsers.orderId })
      .from(agentUsers)
      .where(and(eq(agentUsers.serverId, serverId), eq(agentUsers.username, username)))
      .for('update')
    if (row && row.orderId !== null) {
      return refuse('in_use', {
        msg: `The user ${username} belongs to order #${row.orderId}: change, expire or delete that order instead`
      })
    }
    const known = await unwantByHand(tx, ctx.jobs, serverId, [username])
    const before = { username }
    const entry = { action: 'delete proxy user', targetType: 'server', targetId: serverId, before }
    await record(tx, actor, entry)
    return ok(known.length > 0)
  })
  if (!unwanted.ok) return unwanted
  if (unwanted.data) {
    const followed = await followNow(ctx, serverId)
    if (!followed.ok) return followed
    const outcome = followed.data.users.get(username)
    if (outcome?.kind === 'applied') return ok({ status: 200, output: outcome.reply })
    if (outcome?.kind === 'refused') return refuse('agent_refused', { msg: outcome.message })
  }
  // The console does not know it, or another process has just told the agent: saying it once more does no harm.
  const [reply] = await deleteStrays(ctx, reached.data.agent, serverId, [username])
  if (!reply) return ok({ status: 200, output: { deleted: false } })
  return reply.ok ? ok({ status: 200, output: reply.data }) : away(reply.message)
}

/** Takes every user off the server that no order owns, those unknown to the console among them. */
export async function deleteAllUsers(ctx: Managing, actor: Actor, serverId: number): Promise<Result<Shown>> {
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  const { agent } = reached.data
  const byHand = await ctx.db.transaction(async tx => {
    const usernames = await unwantByHand(tx, ctx.jobs, serverId)
    const before = { users: usernames }
    const entry = { action: 'delete all proxy users', targetType: 'server', targetId: serverId, before }
    await record(tx, actor, entry)
    return usernames
  })
  const followed = await followNow(ctx, serverId)
  if (!followed.ok) return followed
  const state = await agent.state()
  if (!state.ok) return away(state.message)
  const left = state.data.users.map(user => user.user)
  const replies = await deleteStrays(ctx, agent, serverId, left)
  const failed = replies.find(reply => !reply.ok)
  if (failed && !failed.ok) return away(failed.message)
  return ok({ status: 200, output: { deleted: byHand.length + replies.length, kept: left.length - replies.length } })
}

type Agent = Extract<Awaited<ReturnType<typeof reach>>, { ok: true }>['data']['agent']

/** Deletes those of the users that the console wants nothing of, while nobody else talks to the agent. */
async function deleteStrays(ctx: Managing, agent: Agent, serverId: number, usernames: string[]) {
  const replies: Awaited<ReturnType<Agent['deleteUser']>>[] = []
  const work = async () => {
    const rows = await ctx.db
      .select({ username: agentUsers.username })
      .from(agentUsers)
      .where(eq(agentUsers.serverId, serverId))
    const known = new Set(rows.map(row => row.username))
    for (const username of usernames) if (!known.has(username)) replies.push(await agent.deleteUser(username))
  }
  await withServerLock(ctx.db, serverId, work, { waitMs: LOCK_WAIT_MS })
  return replies
}

async function viewUser(ctx: Managing, serverId: number, username: string): Promise<Result<Shown>> {
  const reached = await reach(ctx, serverId)
  if (!reached.ok) return reached
  const reply = await reached.data.agent.raw('POST', '/api/view-user', { user: username })
  if (!reply.ok) return away(reply.message)
  return ok({ status: reply.data.status, output: JSON.parse(reply.data.body) as unknown })
}

async function ownedByOrder(db: Executor, username: string): Promise<boolean> {
  const live = and(eq(orders.proxyUsername, username), isNull(orders.deletedAt))
  const held = and(eq(agentUsers.username, username), isNotNull(agentUsers.orderId))
  return (await db.$count(orders, live)) + (await db.$count(agentUsers, held)) > 0
}
