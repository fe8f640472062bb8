import { refuse, type OutageEntry, type OutageOrder, type OutageState } from '@netlet/contract'
import { and, eq, ilike, inArray, isNotNull, isNull, or, sql, type SQL } from 'drizzle-orm'
import { iso, isoOrNull } from '../../../infra/clock.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { containing } from '../../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../../infra/list/index.ts'
import { ok, type Result } from '../../../infra/result.ts'
import { users } from '../../accounts/tables.ts'
import { findOutage } from '../../fleet/index.ts'
import { serverOutages, servers } from '../../fleet/tables.ts'
import { orders } from '../../orders/tables.ts'
import { incidentsOfOutages, locationsOfServers } from '../../status/index.ts'
import { outageCredits, proxies } from '../tables.ts'
import { losersOf } from './lost-time.ts'

type Query = ListInput<'id'> & { server_id?: number | undefined; state?: OutageState | undefined }

const isCredited = sql`exists (select 1 from ${outageCredits} c where c.outage_id = ${serverOutages.id})`
const states: Readonly<Record<OutageState, SQL | undefined>> = {
  lasts: isNull(serverOutages.endedAt),
  open: and(isNotNull(serverOutages.endedAt), sql`not ${isCredited}`),
  credited: isCredited
}

/** The outages of all servers, those that were removed too: their orders may still be credited. */
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

/** One outage, as the list has it. */
export async function readOutage(db: Executor, id: number, now: Date): Promise<Result<OutageEntry>> {
  const [outage] = await readOutages(db, [id], now)
  return outage ? ok(outage) : refuse('not_found')
}

async function readOutages(db: Executor, ids: number[], now: Date): Promise<OutageEntry[]> {
  const ends = sql`coalesce(${serverOutages.endedAt}, ${iso(now)}::timestamptz)`
  const rows = await db
    .select({
      outage: serverOutages,
      server: { id: servers.id, name: servers.name },
      // As `losersOf` looks for them, without the time that each of them lost: that takes longer than a list may.
      orders: sql<number>`(select count(distinct p.order_id)::int from ${proxies} p join ${orders} o on o.id = p.order_id
        where p.server_id = ${serverOutages.serverId} and p.live_at < ${ends}
          and (p.state <> 'retired' or p.updated_at > ${serverOutages.startedAt})
          and o.paid_at is not null and o.deleted_at is null and o.expired_at > ${serverOutages.startedAt})`,
      credited: sql<number>`(select count(*)::int from ${outageCredits} c where c.outage_id = ${serverOutages.id})`
    })
    .from(serverOutages)
    .innerJoin(servers, eq(servers.id, serverOutages.serverId))
    .where(among(serverOutages.id, ids))
  const incidents = await incidentsOfOutages(db, ids)
  const locations = await locationsOfServers(
    db,
    rows.map(({ server }) => server.id)
  )
  return rows.map(({ outage, server, orders: concerned, credited }) => ({
    id: outage.id,
    server,
    started_at: iso(outage.startedAt),
    ended_at: isoOrNull(outage.endedAt),
    seconds: Math.max(0, Math.round(((outage.endedAt ?? now).getTime() - outage.startedAt.getTime()) / 1000)),
    by_hand: outage.byHand,
    announced_at: isoOrNull(outage.announcedAt),
    orders: concerned,
    credited,
    state: outage.endedAt === null ? 'lasts' : credited > 0 ? 'credited' : 'open',
    locations: locations.get(server.id) ?? [],
    incident: incidents.get(outage.id) ?? null
  }))
}

/** A page of the orders that an outage concerns: those that it would be credited to, and those that it was. */
export async function readOutageOrders(
  db: Executor,
  outageId: number,
  { limit, offset }: { limit: number; offset: number },
  now: Date
): Promise<Result<{ data: OutageOrder[]; total: number; limit: number; offset: number }>> {
  const outage = await findOutage(db, outageId)
  if (!outage) return refuse('not_found')
  const losers = await losersOf(db, { ...outage, endedAt: outage.endedAt ?? now }, now)
  const given = await db
    .select({ id: outageCredits.orderId, seconds: outageCredits.seconds })
    .from(outageCredits)
    .where(eq(outageCredits.outageId, outageId))
  const all = [
    ...losers.map(({ id, phase, seconds }) => ({ id, part: phase, seconds })),
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
