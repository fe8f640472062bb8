import { sql } from 'drizzle-orm'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { RECONCILED } from './events.ts'

/** How far back to look, and how long a webhook may be late before it counts as missing. */
const WITHIN = 24 * HOUR
const LATE = 15 * MINUTE

/** How the ids begin of events that tell of an edited order: the platform has no webhook for these that we hear. */
export const EDITED = `${RECONCILED}edited:`

/** Payments of the last day that only the reconciliation found: no webhook has told of them, though it had the time. */
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
