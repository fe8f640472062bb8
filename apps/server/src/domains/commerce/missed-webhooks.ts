import { sql } from 'drizzle-orm'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { RECONCILED } from './events.ts'

/** How far back to look, and how late a webhook may be before it counts as missing. */
const WITHIN = 24 * HOUR
const LATE = 15 * MINUTE

/** Prefix of the ids of events about edited orders. We subscribe to no webhook for these. */
export const EDITED = `${RECONCILED}edited:`

/** Payments of the last day that the reconciliation found and no webhook has reported in time. */
export async function missedWebhooks(db: Executor, now: Date): Promise<number> {
  const { rows } = await db.execute<{ missed: number }>(sql`
    select count(*)::int as missed from platform_events found
    where found.event_id like ${`${RECONCILED}%`} and found.topic = 'orders/paid' and found.event_id not like ${`${EDITED}%`}
      and found.received_at > ${new Date(now.getTime() - WITHIN)}
      and found.received_at < ${new Date(now.getTime() - LATE)}
      and not exists (
        select 1 from platform_events told
        where told.topic = 'orders/paid' and told.received_at > ${new Date(now.getTime() - 3 * WITHIN)}
          and told.event_id not like ${`${RECONCILED}%`} and told.payload ->> 'id' = found.payload ->> 'id')`)
  return rows[0]?.missed ?? 0
}
