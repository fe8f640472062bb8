import { message, refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, isNotNull } from '../../infra/db/drizzle.ts'
import { fieldRefusal, formRefusal } from '../../infra/refusals.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { looksLikeCode, randomCode } from '../../infra/secrets.ts'
import type { AgentClient } from '../../integrations/agent/index.ts'
import { groupRules, parseCidr, serverOwns } from '../inventory/index.ts'
import { dropUnconfirmed, readFormerUsers, recordUnproved, requestReplacedProofs } from '../proofs/index.ts'
import {
  type SyncContext,
  type WantedUser,
  dropUser,
  readServerRow,
  removeUsersByHand,
  upsertDesiredUsers,
  withServerLock
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
import { claimAgent } from './ownership/claim-agent.ts'

/** Usernames of orders have this form. A user made by hand must not take the name of a later order. */
const isOrderName = (username: string) => username.startsWith('u') && looksLikeCode(username.slice(1), 9)

/** Makes a proxy user without an order. The group's rules count as bought; all others are denied. */
export async function createUserByPrefix(
  ctx: SyncContext,
  by: Actor,
  serverId: number,
  form: { username: string; prefix: string; acl_group: number }
): Promise<Result<AgentOutput>> {
  const { username } = form
  const prefix = parseCidr(form.prefix)
  if (!prefix.ok) return fieldRefusal('prefix', 'invalid_lines', { problem: prefix.message })
  if (prefix.units > 65_536) return fieldRefusal('prefix', 'prefix_too_large', { prefix: prefix.cidr })
  if (isOrderName(username)) return fieldRefusal('username', 'proxy_user_taken', { username })
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  const wanted = await command(ctx, by, async unit => {
    const { tx } = unit
    const rules = await groupRules(tx, form.acl_group)
    if (!rules) return formRefusal({ acl_group: message('select_acl_group') })
    if (!(await serverOwns(tx, serverId, prefix.cidr))) {
      return fieldRefusal('prefix', 'cidr_not_on_server', { cidr: prefix.cidr })
    }
    if (await ownedByOrder(tx, username)) return fieldRefusal('username', 'proxy_user_taken', { username })
    const [taken] = await tx
      .select({ wanted: agentUsers.wanted })
      .from(agentUsers)
      .where(and(eq(agentUsers.serverId, serverId), eq(agentUsers.username, username)))
      .for('update')
    if (taken?.wanted) return fieldRefusal('username', 'proxy_user_taken', { username })
    const password = randomCode(14)
    await setDesiredUsers(unit, [{ serverId, username, orderId: null, password, prefixes: [prefix.cidr], rules }])
    const after = { username, prefix: prefix.cidr, acl_group: form.acl_group, rules }
    unit.audit('server.create_user', serverId, { after })
    return done
  })
  if (!wanted.ok) return wanted
  const synced = await convergeNow(ctx, serverId)
  if (!synced.ok) return synced
  const outcome = synced.data.users.get(username)
  if (outcome?.kind === 'refused') {
    // The agent refused the user, so it is no longer wanted.
    await command(ctx, by, unit => removeUsersByHand(unit, serverId, [username]))
    return refusedByAgent(outcome.message)
  }
  if (outcome?.kind === 'applied') return ok({ status: 200, output: outcome.reply })
  return viewUser(ctx, serverId, username)
}

/** Removes a user from the server, unless it belongs to an order. */
export async function deleteProxyUser(
  ctx: SyncContext,
  by: Actor,
  serverId: number,
  username: string
): Promise<Result<AgentOutput>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  const removal = await command(ctx, by, async unit => {
    const [row] = await unit.tx
      .select({ orderId: agentUsers.orderId })
      .from(agentUsers)
      .where(and(eq(agentUsers.serverId, serverId), eq(agentUsers.username, username)))
      .for('update')
    if (row && row.orderId !== null) {
      return refuse('user_of_order', {
        params: { username, orders: `#${row.orderId}` },
        data: { orders: [row.orderId] }
      })
    }
    const known = await removeUsersByHand(unit, serverId, [username])
    unit.audit('server.delete_user', serverId, { before: { username } })
    return ok(known.length > 0)
  })
  if (!removal.ok) return removal
  if (removal.data) {
    const synced = await convergeNow(ctx, serverId)
    if (!synced.ok) return synced
    const outcome = synced.data.users.get(username)
    if (outcome?.kind === 'applied') return ok({ status: 200, output: outcome.reply })
    if (outcome?.kind === 'refused') return refusedByAgent(outcome.message)
  }
  // The console does not know the user, or another process has just removed it. Deleting it again does no harm.
  const [reply] = await deleteUnknownUsers(ctx, serverId, [username])
  if (!reply) return ok({ status: 200, output: { deleted: false } })
  return reply.ok ? ok({ status: 200, output: reply.data }) : callFailed(reply.message)
}

/** Removes every user without an order from the server, including users that the console does not know. */
export async function deleteAllUsers(ctx: SyncContext, by: Actor, serverId: number): Promise<Result<AgentOutput>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  const { agent } = found.data
  const byHand = await command(ctx, by, async unit => {
    const usernames = await removeUsersByHand(unit, serverId)
    unit.audit('server.delete_all_users', serverId, { before: { users: usernames } })
    return usernames
  })
  const synced = await convergeNow(ctx, serverId)
  if (!synced.ok) return synced
  const state = await agent.state()
  if (!state.ok) return callFailed(state.message)
  const left = state.data.users.map(user => user.user)
  const replies = await deleteUnknownUsers(ctx, serverId, left)
  const failed = replies.find(reply => !reply.ok)
  if (failed && !failed.ok) return callFailed(failed.message)
  return ok({ status: 200, output: { deleted: byHand.length + replies.length, kept: left.length - replies.length } })
}

/** Deletes the users that the console does not know, under the server's lock. */
async function deleteUnknownUsers(ctx: SyncContext, serverId: number, usernames: string[]) {
  const replies: Awaited<ReturnType<AgentClient['deleteUser']>>[] = []
  const work = async () => {
    const rows = await ctx.db
      .select({ username: agentUsers.username })
      .from(agentUsers)
      .where(eq(agentUsers.serverId, serverId))
    const known = new Set(rows.map(row => row.username))
    const unknown = usernames.filter(username => !known.has(username))
    const server = unknown.length === 0 ? undefined : await readServerRow(ctx.db, serverId)
    if (!server) return
    const claimed = await claimAgent(ctx, server)
    for (const username of unknown) {
      const { message } = claimed.kind === 'open' ? { message: '' } : claimed
      replies.push(
        claimed.kind === 'open' ? await claimed.agent.deleteUser(username) : { ok: false, kind: 'failed', message }
      )
    }
  }
  await withServerLock(ctx.db, serverId, work, { waitMs: LOCK_WAIT_MS })
  return replies
}

async function viewUser(ctx: SyncContext, serverId: number, username: string): Promise<Result<AgentOutput>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  return outputOf(await found.data.agent.raw('POST', '/api/view-user', { user: username }))
}

async function ownedByOrder(db: Executor, username: string): Promise<boolean> {
  return (await db.$count(agentUsers, and(eq(agentUsers.username, username), isNotNull(agentUsers.orderId)))) > 0
}

/**
 * Sets the desired state of these users; jobs send it to the agents. The previous credentials are checked after the
 * agents have confirmed.
 * @returns orders that lost listed clients, because other orders with the same addresses list them already
 */
export async function setDesiredUsers(unit: Unit, users: WantedUser[]): Promise<number[]> {
  if (users.length === 0) return []
  const held = await readFormerUsers(unit, users)
  const { rows, shortened } = await upsertDesiredUsers(unit, users)
  await requestReplacedProofs(unit, held, rows)
  return shortened
}

/**
 * Drops an order's user on a server that was given up, because its agent will never confirm the removal. The repair
 * that a server passes before it sells again removes what may be left there.
 */
export async function dropDesiredUser(unit: Unit, serverId: number, orderId: number): Promise<void> {
  const gone = await dropUser(unit, serverId, orderId)
  await dropUnconfirmed(unit, serverId, orderId)
  await recordUnproved(unit, gone, 'given_up')
}
