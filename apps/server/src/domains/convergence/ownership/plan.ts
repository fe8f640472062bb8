import { createHash } from 'node:crypto'
import type { RepairPlan } from '@netlet/contract'
import type { AgentState } from '@netlet/contract/agent'
import { and, eq, sql } from '../../../infra/db/drizzle.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { iso } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { notifyAdmins } from '../../accounts/index.ts'
import { serverCidrs } from '../../inventory/index.ts'
import { setTrouble, type SyncContext, type ServerRow, withAccess } from '../../servers/index.ts'
import { agentTies } from '../tables.ts'
import { agentUsers, orderAccess } from '../../servers/tables.ts'
import { hashOf, planUsers } from '../converge.ts'

/** At most this many names of each kind are kept and shown. */
const SHOWN = 1000

/** What a repair would do to an agent that knows more than this database. */
export async function planRepair(
  ctx: SyncContext,
  server: ServerRow,
  state: AgentState
): Promise<{ plan: RepairPlan; harmless: boolean }> {
  const rows = await ctx.db
    .select({
      username: agentUsers.username,
      wanted: agentUsers.wanted,
      digest: agentUsers.digest,
      inStep: sql<boolean>`${agentUsers.generation} = ${agentUsers.appliedGeneration}`
    })
    .from(agentUsers)
    .where(eq(agentUsers.serverId, server.id))
  const held = new Map(state.users.map(user => [user.user, user]))
  const wanted = new Map(rows.filter(row => row.wanted).map(row => [row.username, row]))
  const own = new Set(await serverCidrs(ctx.db, server.id))
  const removed = [...held.keys()].filter(user => !wanted.has(user)).toSorted()
  const other = [...wanted.values()].flatMap(({ username, inStep, digest }) => {
    const there = held.get(username)
    return there && !(inStep && there.hash === digest) ? [there] : []
  })
  const changed = await changedOf(ctx, server.id, other)
  const added = [...wanted.keys()].filter(user => !held.has(user)).toSorted()
  const ranges = state.prefixes.filter(prefix => !own.has(prefix)).toSorted()
  // Additions are harmless and orders keep coming, so an approval stays valid when more is added.
  const content = JSON.stringify([state.owner?.mark, removed, changed, ranges])
  const some = (users: string[]) => ({ count: users.length, users: users.slice(0, SHOWN) })
  const plan = {
    digest: createHash('sha256').update(content).digest('hex'),
    at: iso(ctx.now()),
    removed: some(removed),
    changed: some(changed),
    added: some(added),
    ranges: { count: ranges.length, ranges: ranges.slice(0, SHOWN) }
  }
  return { plan, harmless: removed.length + changed.length + ranges.length === 0 }
}

/**
 * The users that would be changed if they were sent again. An order that was placed again has what it had. Only the
 * quota differs after a restore, because each one counts from when it was sent; nothing is lost with it.
 */
async function changedOf(ctx: SyncContext, serverId: number, held: AgentState['users']): Promise<string[]> {
  const there = new Map(held.map(user => [user.user, user]))
  const users = await ctx.db
    .select(withAccess)
    .from(agentUsers)
    .leftJoin(orderAccess, eq(orderAccess.orderId, agentUsers.orderId))
    .where(
      and(eq(agentUsers.serverId, serverId), sql`${agentUsers.username} = any(${sql.param([...there.keys()])}::text[])`)
    )
  const planned = await planUsers(ctx, users)
  return planned
    .filter(({ limits, ...one }) => {
      const known = there.get(one.user.username)
      const quota = known?.quota && limits?.quota ? { quota: known.quota } : {}
      return known?.hash !== hashOf({ ...one, limits: limits && { ...limits, ...quota } })
    })
    .map(({ user }) => user.username)
    .toSorted()
}

/** The waiting plan, and the digest of the approved one. */
export async function readPlan(
  db: Executor,
  serverId: number
): Promise<{ plan: RepairPlan | null; approved: string | null }> {
  const [tie] = await db
    .select({ plan: agentTies.plan, approved: agentTies.approved })
    .from(agentTies)
    .where(eq(agentTies.serverId, serverId))
  return tie ?? { plan: null, approved: null }
}

/** Shows a plan, and notifies the administrators of the first one. */
export async function requestApproval(ctx: SyncContext, server: ServerRow, plan: RepairPlan): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    await unit.tx.update(agentTies).set({ plan }).where(eq(agentTies.serverId, server.id))
    const params = { removed: plan.removed.count, changed: plan.changed.count, ranges: plan.ranges.count }
    const first = await setTrouble(unit, server.id, { code: 'older_console', params })
    if (!first) return
    await notifyAdmins(unit, {
      words: 'repair_waits',
      params: { server: server.name, ip: server.ip, ...params },
      key: `repair-plan:${server.id}:${plan.digest}`,
      cause: 'server_trouble',
      about: `${server.id}:older_console`
    })
  })
}
