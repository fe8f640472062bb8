import type { PlanLimits } from '@netlet/contract'
import type { AgentUserLimits } from '@netlet/contract/agent'
import { and, eq, inArray, sql } from '../../../infra/db/drizzle.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { SyncContext } from '../server-row.ts'
import type { AgentUser } from './order-access.ts'
import { enqueueConverge } from './desired-users.ts'
import { limitsQueue } from '../queues.ts'
import { agentUsers, orderTraffic } from '../tables.ts'

/** Called when an order has used this share (percent) of its quota, once for each quota. */
export type QuotaPort = (unit: Unit, orderId: number, change: QuotaNews) => Promise<void>
export type QuotaNews = { share: 80 | 100; used: number; allowed: number }

/** Bytes of a gigabyte as plans count them. */
const GB = 1_000_000_000
/** An agent is sent a new quota if it would grant this share of the quota more than is left. */
const TOO_MUCH = 0.05
/** A number holds counts up to this exactly. */
const MOST_BYTES = 9_000_000_000_000_000

/** What each of an order's addresses may use in a term. They share the traffic of all of them. */
export type OrderLimits = { limits: Partial<PlanLimits>; quantity: number }

/**
 * Sets an order's limits for the first time; doing it again changes nothing. Call it before the order's users are
 * wanted, so that their agents get both together.
 */
export async function beginOrderLimits({ tx }: Unit, orderId: number, plan: OrderLimits) {
  await tx
    .insert(orderTraffic)
    .values({ orderId, allowed: bytesOf(plan), ...columnsOf(plan.limits) })
    .onConflictDoNothing()
}

/** The traffic of a term, capped at a number that agents take; null: no quota. */
const bytesOf = ({ limits: { traffic_gb: gigabytes = null }, quantity }: OrderLimits): number | null =>
  gigabytes === null ? null : Math.min(MOST_BYTES, gigabytes * GB * quantity)

/**
 * A new term of an order adds its traffic and starts counting at 0. Unused traffic stays, and traffic beyond the quota
 * is not charged to the new term. The order's agents get the result.
 */
export async function addTraffic(unit: Unit, orderId: number, plan: OrderLimits): Promise<void> {
  const more = bytesOf(plan)
  const { used, allowed } = await lockTraffic(unit, orderId)
  const changed = more === null ? { allowed: null, used } : { allowed: Math.max(0, allowed - used) + more, used: 0 }
  await writeLimits(unit, orderId, plan, changed)
}

/** Takes a term's traffic back, as far as it is unused. @returns the bytes that were taken; null: there is no quota */
export async function takeTraffic(unit: Unit, orderId: number, plan: OrderLimits): Promise<number | null> {
  const term = bytesOf(plan)
  const { used, allowed } = await lockTraffic(unit, orderId)
  const taken = term === null ? null : Math.min(term, Math.max(0, allowed - used))
  await writeLimits(unit, orderId, plan, { allowed: taken === null ? null : allowed - taken, used })
  return taken
}

/** Gives back what `takeTraffic` took. @param taken null: not stored, so the whole term's traffic */
export async function returnTraffic(unit: Unit, orderId: number, plan: OrderLimits, taken: number | null) {
  const term = bytesOf(plan)
  const { used, allowed } = await lockTraffic(unit, orderId)
  await writeLimits(unit, orderId, plan, { allowed: term === null ? null : allowed + (taken ?? term), used })
}

/** What an order has used, and its quota, in bytes. Without one, what it has used stands in for it. */
async function lockTraffic({ tx }: Unit, orderId: number): Promise<{ used: number; allowed: number }> {
  await tx.insert(orderTraffic).values({ orderId }).onConflictDoNothing()
  const [row] = await tx.select().from(orderTraffic).where(eq(orderTraffic.orderId, orderId)).for('update')
  const used = row?.used ?? 0
  return { used, allowed: row?.allowed ?? used }
}

async function writeLimits(
  unit: Unit,
  orderId: number,
  { limits }: OrderLimits,
  { allowed, used }: { allowed: number | null; used: number }
): Promise<void> {
  const most = allowed === null ? null : Math.min(MOST_BYTES, allowed)
  await unit.tx
    .update(orderTraffic)
    .set({ ...columnsOf(limits), allowed: most, used, toldOf: 0 })
    .where(eq(orderTraffic.orderId, orderId))
  // In a transaction of its own, because the caller may still take locks that come before those of the agents' users.
  unit.jobs.send(limitsQueue, { orderId }, { key: String(orderId) })
}

/** The job's work: sends the order's users to their agents again. */
export const renewOrderLimits = (ctx: SyncContext, orderId: number): Promise<void> =>
  command(ctx, SYSTEM, unit => renewUsers(unit, sql`a.order_id = ${orderId} and a.wanted`))

const columnsOf = (limits: Partial<PlanLimits>) => ({
  mbps: limits.mbps ?? null,
  connections: limits.connections ?? null,
  connectionsPerSecond: limits.connections_per_second ?? null
})

async function renewUsers(unit: Unit, which: ReturnType<typeof sql>): Promise<void> {
  const { rows } = await unit.tx.execute<{ serverId: number }>(sql`
    with ordered as (
      select a.server_id, a.username from ${agentUsers} a left join ${orderTraffic} t on t.order_id = a.order_id
      where ${which} order by a.server_id, a.username for update of a
    )
    update ${agentUsers} set generation = nextval('agent_generation'), refusal = null
    from ordered where agent_users.server_id = ordered.server_id and agent_users.username = ordered.username
    returning agent_users.server_id as "serverId"`)
  enqueueConverge(
    unit,
    rows.map(row => row.serverId)
  )
}

/**
 * The limits of these users of one server, as their agent gets them. What is left of a quota is computed once for each
 * generation of a user, so that it is the same when it is sent again.
 */
export async function grantLimits(ctx: SyncContext, users: AgentUser[]): Promise<Map<string, AgentUserLimits>> {
  const [first] = users
  const names = users.filter(user => user.wanted && user.orderId !== null).map(user => user.username)
  if (!first || names.length === 0) return new Map()
  const read = () =>
    ctx.db
      .select({ user: agentUsers, traffic: orderTraffic })
      .from(agentUsers)
      .innerJoin(orderTraffic, eq(orderTraffic.orderId, agentUsers.orderId))
      .where(and(eq(agentUsers.serverId, first.serverId), inArray(agentUsers.username, names)))
  let found = await read()
  if (found.some(({ user, traffic }) => traffic.allowed !== null && user.quotaGeneration !== user.generation)) {
    await command(ctx, SYSTEM, async ({ tx }) => {
      const left = sql`greatest(0, ${orderTraffic.allowed} - ${orderTraffic.used})`
      await tx
        .update(agentUsers)
        .set({
          quotaGeneration: sql`${agentUsers.generation}`,
          quotaBytes: left,
          quotaUntil: sql`${agentUsers.trafficUsed} + ${left}`
        })
        .from(orderTraffic)
        .where(
          and(
            eq(orderTraffic.orderId, agentUsers.orderId),
            eq(agentUsers.serverId, first.serverId),
            inArray(agentUsers.username, names),
            sql`${orderTraffic.allowed} is not null`,
            sql`${agentUsers.quotaGeneration} is distinct from ${agentUsers.generation}`
          )
        )
    })
    found = await read()
  }
  return new Map(found.map(({ user, traffic }) => [user.username, limitsOf(user, traffic)]))
}

function limitsOf(user: typeof agentUsers.$inferSelect, traffic: typeof orderTraffic.$inferSelect): AgentUserLimits {
  const { mbps, connections, connectionsPerSecond, allowed } = traffic
  return {
    ...(mbps === null ? {} : { mbps }),
    ...(connections === null ? {} : { connections }),
    ...(connectionsPerSecond === null ? {} : { connections_per_second: connectionsPerSecond }),
    ...(allowed === null ? {} : { quota: { id: String(user.quotaGeneration), bytes: user.quotaBytes ?? 0 } })
  }
}

type Used = { orderId: number; username: string; bytes: number }

/**
 * Adds to what orders have used. Customers are notified at 80 and at 100 percent. An agent gets less if it would grant
 * much more than is left, because other servers have used it.
 */
export async function useTraffic(unit: Unit, serverId: number, used: Used[], tell: QuotaPort): Promise<void> {
  if (used.length === 0) return
  const { tx } = unit
  const json = JSON.stringify(used)
  // Ascending, so that the pages of two servers cannot deadlock.
  const { rows } = await tx.execute<{ orderId: string; used: string; allowed: string | null; toldOf: number }>(sql`
    insert into ${orderTraffic} (order_id, used)
    select "orderId", sum(bytes) from jsonb_to_recordset(${json}::jsonb) as r("orderId" bigint, bytes bigint)
    group by 1 order by 1
    on conflict (order_id) do update set used = least(9000000000000000, order_traffic.used + excluded.used)
    returning order_id as "orderId", used, allowed, told_of as "toldOf"`)
  const limited = rows.filter(row => row.allowed !== null)
  if (limited.length === 0) return
  const ids = limited.map(row => Number(row.orderId))
  // Locks all users of these orders on all servers, in the usual order. Some are changed here, others below.
  await tx.execute(sql`
    select 1 from ${agentUsers} where order_id = any(${sql.param(ids)}::bigint[]) order by server_id, username for update`)
  await tx.execute(sql`
    update ${agentUsers} set traffic_used = least(9000000000000000, agent_users.traffic_used + r.bytes)
    from (select username, sum(bytes)::bigint as bytes
      from jsonb_to_recordset(${json}::jsonb) as r("orderId" bigint, username text, bytes bigint)
      where "orderId" = any(${sql.param(ids)}::bigint[]) group by username) r
    where agent_users.server_id = ${serverId} and agent_users.username = r.username`)
  for (const row of limited) {
    const news = newsOf({ used: Number(row.used), allowed: Number(row.allowed), toldOf: row.toldOf })
    if (!news) continue
    const orderId = Number(row.orderId)
    await tx.update(orderTraffic).set({ toldOf: news.share }).where(eq(orderTraffic.orderId, orderId))
    await tell(unit, orderId, news)
  }
  await renewUsers(
    unit,
    sql`a.order_id = any(${sql.param(ids)}::bigint[]) and a.wanted and t.allowed is not null and a.quota_until is not null
      and (t.used >= t.allowed and a.quota_bytes > 0
        or a.quota_until - a.traffic_used - greatest(0, t.allowed - t.used) > t.allowed * ${TOO_MUCH}::float8)`
  )
}

function newsOf({ used, allowed, toldOf }: { used: number; allowed: number; toldOf: number }): QuotaNews | null {
  const share = used >= allowed ? 100 : used >= allowed * 0.8 ? 80 : 0
  return share > toldOf && share !== 0 ? { share, used, allowed } : null
}
