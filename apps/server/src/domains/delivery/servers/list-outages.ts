import { refuse, type OutageEntry, type OutageOrder, type OutageState } from '@netlet/contract'
import { and, eq, ilike, inArray, isNotNull, isNull, or, sql, type SQL } from '../../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../../infra/clock.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { containing } from '../../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../../infra/list/index.ts'
import { ok, type Result } from '../../../infra/result.ts'
import { users } from '../../accounts/tables.ts'
import { findOutage } from '../../servers/index.ts'
import { serverOutages, servers } from '../../servers/tables.ts'
import { orders } from '../../orders/tables.ts'
import { incidentsOfOutages, locationsOfServers } from '../../status/index.ts'
import { outageCredits, proxies } from '../tables.ts'
import { ordersAffectedBy } from './lost-time.ts'

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
