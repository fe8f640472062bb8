import type { LostTime } from '@netlet/contract'
import { and, desc, eq, gt, lt, sql } from 'drizzle-orm'
import { DAY, iso, isoOrNull } from '../../../infra/clock.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { ok, type Result } from '../../../infra/result.ts'
import { serverOutages, servers } from '../../fleet/tables.ts'
import { findOrder } from '../../orders/index.ts'
import { outageCredits, proxies } from '../tables.ts'
import { ordersAffectedBy } from './lost-time.ts'

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
