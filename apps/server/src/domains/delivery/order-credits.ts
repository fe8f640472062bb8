import type { OutageCredit } from '@netlet/contract'
import { desc, eq } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { serverOutages } from '../fleet/tables.ts'
import { findOrder } from '../orders/index.ts'
import { incidentsOfOutages } from '../status/index.ts'
import { outageCredits } from './tables.ts'

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
