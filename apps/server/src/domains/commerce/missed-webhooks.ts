import { sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { readCheck, recordCheck } from './checks.ts'
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

/** Tells the administrators, once a day at most, that payments are made of which no webhook tells. */
export async function reportMissedWebhooks(ctx: AppContext): Promise<void> {
  const missed = await missedWebhooks(ctx.db, ctx.now())
  if (missed === 0) return
  await command(ctx, SYSTEM, async unit => {
    const told = await readCheck(unit.tx, 'silence_told')
    if (told && unit.now.getTime() - told.at.getTime() < WITHIN) return
    await recordCheck(unit, 'silence_told', { orders: missed })
    await notifyAdmins(unit, {
      subject: 'Webhooks of the platform do not arrive',
      text: `In the last 24 hours ${missed} payments were found only by asking the platform: no webhook told of them. Their orders are delivered, but minutes late.\n\nOpen Health in the console. Check that ${ctx.config.publicUrl} can be reached from outside, and that the webhook secret under Web Settings is the app's.`,
      key: `webhooks:silence:${unit.now.toISOString().slice(0, 10)}`
    })
  })
  ctx.log.warn({ missed }, 'payments were made of which no webhook told')
}
