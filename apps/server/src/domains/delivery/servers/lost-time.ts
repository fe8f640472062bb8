import { and, desc, eq, gt, lt, sql } from '../../../infra/db/drizzle.ts'
import { DAY, iso, isoOrNull } from '../../../infra/clock.ts'
import type { Executor } from '../../../infra/db/client.ts'
import type { Outage } from '../../servers/index.ts'
import { serverOutages, servers } from '../../servers/tables.ts'
import { orderEvents, orders } from '../../orders/tables.ts'
import { outageCredits, proxies } from '../tables.ts'
import type { LostTime, OutageCredit } from '@netlet/contract'
import { type Result, ok } from '../../../infra/result.ts'
import { findOrder } from '../../orders/index.ts'
import { incidentsOfOutages } from '../../status/index.ts'

/**
 * The time that an order was credited for outages, newest first, with their incidents. It names no server.
 * @param userId who must own the order; null: any
 */
export async function creditsOfOrder(
  db: Executor,
  { id, userId, now }: { id: number; userId: number | null; now: Date }
): Promise<Result<OutageCredit[]>> {
  const order = await findOrder(db, id, userId, now)
  if (!order.ok) return order
  const rows = await db
    .select({ credit: outageCredits, outage: serverOutages })
    .from(outageCredits)
    .innerJoin(serverOutages, eq(serverOutages.id, outageCredits.outageId))
    .where(eq(outageCredits.orderId, id))
    .orderBy(desc(outageCredits.createdAt), desc(outageCredits.outageId))
  const incidents = await incidentsOfOutages(
    db,
    rows.map(({ outage }) => outage.id)
  )
  return ok(
    rows.map(({ credit, outage }) => ({
      at: iso(credit.createdAt),
      seconds: credit.seconds,
      from: iso(outage.startedAt),
      // Only outages that are over are credited.
      to: iso(outage.endedAt ?? credit.createdAt),
      incident: incidents.get(outage.id) ?? null
    }))
  )
}

/** At most this many outages, and no older ones, because each is looked at by itself. */
const MOST = 20
const DAYS = 90

/** Outages that kept an order from being served and were not credited to it, with the lost time, newest first. */
export async function lostTimeOf(db: Executor, { id, now }: { id: number; now: Date }): Promise<Result<LostTime[]>> {
  const order = await findOrder(db, id, null, now)
  if (!order.ok) return order
  const outages = await db
    .select({ outage: serverOutages, server: { id: servers.id, name: servers.name } })
    .from(serverOutages)
    .innerJoin(servers, eq(servers.id, serverOutages.serverId))
    .where(
      and(
        // As in `ordersAffectedBy`, so that other outages do not fill the limit.
        sql`exists (select 1 from ${proxies} p where p.order_id = ${id} and p.server_id = ${serverOutages.serverId}
          and p.live_at < coalesce(${serverOutages.endedAt}, ${iso(now)}::timestamptz)
          and (p.state <> 'retired' or p.updated_at > ${serverOutages.startedAt}))`,
        sql`not exists (select 1 from ${outageCredits} c where c.outage_id = ${serverOutages.id} and c.order_id = ${id})`,
        lt(serverOutages.startedAt, now),
        gt(serverOutages.startedAt, new Date(now.getTime() - DAYS * DAY))
      )
    )
    .orderBy(desc(serverOutages.startedAt))
    .limit(MOST)
  const lost: LostTime[] = []
  for (const { outage, server } of outages) {
    const [affected] = await ordersAffectedBy(db, { ...outage, endedAt: outage.endedAt ?? now }, now, id)
    if (!affected) continue
    const { startedAt, endedAt } = outage
    lost.push({ outage_id: outage.id, server, from: iso(startedAt), to: isoOrNull(endedAt), seconds: affected.seconds })
  }
  return ok(lost)
}

export type EndedOutage = Outage & { endedAt: Date }

/** `running`: its time runs. `grace`: it can be revived on the same addresses. `ended`: these are no longer held. */
export type AffectedOrder = {
  id: number
  publicId: string
  userId: number
  phase: 'running' | 'grace' | 'ended'
  seconds: number
}

/**
 * Orders that an outage was not credited to yet, with the whole seconds that each would get: the time in which this or
 * a credited outage kept it from being served, each moment once, less what was credited. So the sequence of credits
 * does not matter. Between its end and its revival an order loses nothing. For an outage that lasts, `endedAt` is
 * `now`, and the result is the time lost so far.
 * @param orderId only this order
 */
export async function ordersAffectedBy(
  db: Executor,
  outage: EndedOutage,
  now: Date,
  orderId?: number
): Promise<AffectedOrder[]> {
  const [from, to, at] = [outage.startedAt, outage.endedAt, now].map(time => sql`${iso(time)}::timestamptz`)
  const { rows } = await db.execute<AffectedOrder>(sql`
    with affected as (
      select o.id, o.order_id as public_id, o.user_id, o.state, least(o.expired_at, o.ended_at) as ended_at,
        o.state = 'expired' or o.expired_at <= ${at} as is_over,
        case when o.state <> 'expired' then 'running' when o.grace_until > ${at} then 'grace' else 'ended' end as phase
      from ${orders} o
      where o.paid_at is not null and o.deleted_at is null ${orderId === undefined ? sql`` : sql`and o.id = ${orderId}`}
        and o.state in ('delivering', 'partly_delivered', 'delivered', 'expired') and o.expired_at > ${from}
        and not exists (select 1 from ${outageCredits} c where c.outage_id = ${outage.id} and c.order_id = o.id)
        and exists (select 1 from ${proxies} p where p.order_id = o.id and p.server_id = ${outage.serverId}
          and p.live_at < ${to} and (p.state <> 'retired' or p.updated_at > ${from}))
    ), credited as (
      select c.order_id, c.outage_id, c.seconds from ${outageCredits} c join affected on affected.id = c.order_id
    ), away as (
      select id as order_id, ${outage.id}::bigint as outage_id from affected union select order_id, outage_id from credited
    ), part as (
      select affected.id, greatest(s.started_at, p.live_at) as starts, least(coalesce(s.ended_at, ${at}),
        case when p.state = 'retired' then p.updated_at end, case when affected.is_over then affected.ended_at end) as ends
      from affected join away on away.order_id = affected.id join ${serverOutages} s on s.id = away.outage_id
        join ${proxies} p on p.order_id = affected.id and p.server_id = s.server_id and p.live_at is not null
    ), lost as (
      select id, range_agg(tstzrange(starts, ends)) as time from part where starts < ends group by id
    ), pause as (
      select e.order_id as id, range_agg(tstzrange(
        (e.detail ->> 'ended_at')::timestamptz, (e.detail ->> 'resumed_at')::timestamptz)) as time
      from ${orderEvents} e join affected on affected.id = e.order_id
      where e.kind in ('revive', 'reopen') and (e.detail ->> 'ended_at')::timestamptz < (e.detail ->> 'resumed_at')::timestamptz
      group by e.order_id
    ), total as (
      select lost.id, (
          select floor(coalesce(sum(extract(epoch from upper(one) - lower(one))), 0))
          from unnest(lost.time - coalesce(pause.time, '{}'::tstzmultirange)) as one)
        - coalesce((select sum(seconds) from credited where credited.order_id = lost.id), 0) as seconds
      from lost left join pause on pause.id = lost.id
    )
    select affected.id, affected.public_id as "publicId", affected.user_id as "userId", affected.phase, total.seconds::int as seconds
    from affected join total on total.id = affected.id where total.seconds > 0 order by affected.id`)
  return rows
}

/** Orders that an outage was credited to after their end, and that are not reopened yet. */
export function creditedAfterEnd(
  db: Executor,
  outageId: number
): Promise<{ id: number; publicId: string; userId: number; seconds: number }[]> {
  return db
    .select({ id: orders.id, publicId: orders.publicId, userId: orders.userId, seconds: outageCredits.seconds })
    .from(outageCredits)
    .innerJoin(orders, and(eq(orders.id, outageCredits.orderId), eq(orders.state, 'expired')))
    .where(and(eq(outageCredits.outageId, outageId), gt(orders.expiredAt, orders.endedAt)))
    .orderBy(orders.id)
}
