import {
  type LostTime,
  type OutageCredit,
  type OutageEntry,
  type OutageOrder,
  type OutageState,
  refuse
} from '@netlet/contract'
import { DAY, iso, isoOrNull } from '../../../infra/clock.ts'
import type { Executor } from '../../../infra/db/client.ts'
import {
  type SQL,
  and,
  desc,
  eq,
  gt,
  ilike,
  inArray,
  isNotNull,
  isNull,
  lt,
  or,
  sql
} from '../../../infra/db/drizzle.ts'
import { containing } from '../../../infra/db/like.ts'
import { type ListInput, among, defineList } from '../../../infra/list/index.ts'
import { type Result, ok } from '../../../infra/result.ts'
import { users } from '../../accounts/tables.ts'
import { findOrder } from '../../orders/index.ts'
import { orderEvents, orders } from '../../orders/tables.ts'
import { type Outage, findOutage } from '../../servers/index.ts'
import { serverOutages, servers } from '../../servers/tables.ts'
import { incidentsOfOutages, locationsOfServers } from '../../status/index.ts'
import { outageCredits, proxies } from '../tables.ts'

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

type Query = ListInput<'id'> & { server_id?: number | undefined; state?: OutageState | undefined }

const isCredited = sql`exists (select 1 from ${outageCredits} c where c.outage_id = ${serverOutages.id})`
const states: Readonly<Record<OutageState, SQL | undefined>> = {
  lasts: isNull(serverOutages.endedAt),
  open: and(isNotNull(serverOutages.endedAt), sql`not ${isCredited}`),
  credited: isCredited
}

/** The outages of all servers, also of removed ones, because their orders may still be credited. */
export const outagesList = (now: () => Date) =>
  defineList<Query, OutageEntry>({
    name: 'outages',
    table: serverOutages,
    id: serverOutages.id,
    sort: { id: serverOutages.id },
    match(_db, { search, server_id: serverId, state }) {
      const pattern = search && containing(search)
      const found = pattern
        ? sql`exists (select 1 from ${servers} where ${servers.id} = ${serverOutages.serverId}
            and ${or(ilike(servers.name, pattern), ilike(sql`host(${servers.ip})`, pattern))})`
        : undefined
      const ofServer = serverId === undefined ? undefined : eq(serverOutages.serverId, serverId)
      return { where: [ofServer, state && states[state], found] }
    },
    load: (db, ids) => readOutages(db, ids, now())
  })

/** One outage, as the list shows it. */
export async function readOutage(db: Executor, id: number, now: Date): Promise<Result<OutageEntry>> {
  const [outage] = await readOutages(db, [id], now)
  return outage ? ok(outage) : refuse('not_found')
}

async function readOutages(db: Executor, ids: number[], now: Date): Promise<OutageEntry[]> {
  const rows = await db
    .select({
      outage: serverOutages,
      server: { id: servers.id, name: servers.name },
      credited: sql<number>`(select count(*)::int from ${outageCredits} c where c.outage_id = ${serverOutages.id})`
    })
    .from(serverOutages)
    .innerJoin(servers, eq(servers.id, serverOutages.serverId))
    .where(among(serverOutages.id, ids))
  const concerned = await ordersConcerned(db, ids, now)
  const incidents = await incidentsOfOutages(db, ids)
  const locations = await locationsOfServers(
    db,
    rows.map(({ server }) => server.id)
  )
  return rows.map(({ outage, server, credited }) => ({
    id: outage.id,
    server,
    started_at: iso(outage.startedAt),
    ended_at: isoOrNull(outage.endedAt),
    seconds: Math.max(0, Math.round(((outage.endedAt ?? now).getTime() - outage.startedAt.getTime()) / 1000)),
    by_hand: outage.byHand,
    announced_at: isoOrNull(outage.announcedAt),
    orders: concerned.get(outage.id) ?? 0,
    credited,
    state: outage.endedAt === null ? 'lasts' : credited > 0 ? 'credited' : 'open',
    locations: locations.get(server.id) ?? [],
    incident: incidents.get(outage.id) ?? null
  }))
}

/**
 * How many orders had addresses on the server during an outage, as in `ordersAffectedBy`, but without the time that
 * each lost, which would take too long for a list. The proxies of a server are read once for all of its outages. Most
 * orders were there once: for them, counts along the time give the arrivals before an outage ended less the departures
 * before it began. Only orders that left and came back are compared with each outage.
 */
async function ordersConcerned(db: Executor, outageIds: number[], now: Date): Promise<Map<number, number>> {
  const { rows } = await db.execute<{ id: number; orders: number }>(sql`
    with outage as materialized (
      select s.id, s.server_id, s.started_at,
        greatest(s.started_at, coalesce(s.ended_at, ${iso(now)}::timestamptz)) as ended_at
      from ${serverOutages} s where s.id = any(${sql.param(outageIds)}::bigint[])
    ), held as materialized (
      select p.server_id, p.order_id, p.live_at as since, case when p.state = 'retired' then p.updated_at end as until
      from ${proxies} p
      where p.server_id in (select server_id from outage) and p.live_at < (select max(ended_at) from outage)
        and (p.state <> 'retired' or p.updated_at > (select min(started_at) from outage))
      group by 1, 2, 3, 4
    ), stay as materialized (
      select held.server_id, o.id as order_id, range_agg(tstzrange(held.since, least(held.until, o.expired_at))) as times
      from held join ${orders} o on o.id = held.order_id
      where o.paid_at is not null and o.deleted_at is null and held.since < least(held.until, o.expired_at)
        and o.expired_at is not null
      group by 1, 2
    ), once as (
      select server_id, lower(times) as since, upper(times) as until from stay where times = range_merge(times)::tstzmultirange
    ), moment as (
      select server_id, since as at, 1 as place, 1 as come, 0 as gone, null::bigint as begins, null::bigint as ends from once
      union all select server_id, until, 0, 0, 1, null, null from once
      union all select server_id, started_at, 1, 0, 0, id, null from outage
      union all select server_id, ended_at, 0, 0, 0, null, id from outage
    ), counted as (
      select begins, ends, sum(come) over along as come, sum(gone) over along as gone from moment
      window along as (partition by server_id order by at, place rows unbounded preceding)
    ), again as (
      select outage.id, count(*) as orders from outage join stay on stay.server_id = outage.server_id
      where stay.times <> range_merge(stay.times)::tstzmultirange
        and stay.times && tstzrange(outage.started_at, outage.ended_at, '[)')
      group by 1
    )
    select ended.ends as id, (ended.come - begun.gone + coalesce(again.orders, 0))::int as orders
    from counted ended join counted begun on begun.begins = ended.ends left join again on again.id = ended.ends`)
  return new Map(rows.map(({ id, orders: count }) => [id, count]))
}

/** A page of the orders that an outage affects: those that it would be credited to, and those that it was. */
export async function readOutageOrders(
  db: Executor,
  outageId: number,
  { limit, offset }: { limit: number; offset: number },
  now: Date
): Promise<Result<{ data: OutageOrder[]; total: number; limit: number; offset: number }>> {
  const outage = await findOutage(db, outageId)
  if (!outage) return refuse('not_found')
  const affected = await ordersAffectedBy(db, { ...outage, endedAt: outage.endedAt ?? now }, now)
  const given = await db
    .select({ id: outageCredits.orderId, seconds: outageCredits.seconds })
    .from(outageCredits)
    .where(eq(outageCredits.outageId, outageId))
  const all = [
    ...affected.map(({ id, phase, seconds }) => ({ id, part: phase, seconds })),
    ...given.map(({ id, seconds }) => ({ id, part: 'credited' as const, seconds }))
  ].toSorted((a, b) => a.id - b.id)
  const shown = all.slice(offset, offset + limit)
  const named = await db
    .select({ id: orders.id, publicId: orders.publicId, username: users.username })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(
      inArray(
        orders.id,
        shown.map(({ id }) => id)
      )
    )
  const nameOf = new Map(named.map(({ id, ...names }) => [id, names]))
  return ok({
    total: all.length,
    limit,
    offset,
    data: shown.map(({ id, part, seconds }) => ({
      id,
      order_id: nameOf.get(id)?.publicId ?? '',
      username: nameOf.get(id)?.username ?? '',
      part,
      seconds
    }))
  })
}
