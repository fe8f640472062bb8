import { and, asc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { handleEvent } from './handle-event.ts'
import type { ProductEventJob } from './queues.ts'
import { platformEvents, productOf } from './tables.ts'
import type { EventHandlers } from './topics.ts'

/** Handles the waiting events of one topic about one product; of those with a time only the newest. */
export async function handleProductEvents(
  ctx: AppContext,
  handlers: EventHandlers,
  job: ProductEventJob
): Promise<void> {
  const left = 'product' in job ? await command(ctx, SYSTEM, unit => endOlder(unit, job)) : [job.eventId]
  for (const eventId of left) await handleEvent(ctx, handlers, eventId)
}

/** Ends events that a newer event of their product replaces. @returns the events left to handle, in order */
async function endOlder(
  { tx, now }: Unit,
  { topic, product }: Extract<ProductEventJob, { product: string }>
): Promise<string[]> {
  const waiting = await tx
    .select({ eventId: platformEvents.eventId, at: sql<string | null>`${platformEvents.payload} ->> 'updated_at'` })
    .from(platformEvents)
    .where(
      and(
        eq(productOf(platformEvents.payload), product),
        eq(platformEvents.topic, topic),
        isNull(platformEvents.processedAt),
        sql`${platformEvents.topic} like 'products/%'`
      )
    )
    // In a fixed order, so that two jobs that end the same events do not deadlock.
    .orderBy(asc(platformEvents.id))
    .for('update')
  const at = (event: (typeof waiting)[number]) => Date.parse(event.at ?? '')
  const dated = waiting.filter(event => !Number.isNaN(at(event)))
  const newest = dated.reduce<(typeof dated)[number] | undefined>(
    (best, event) => (best && at(best) > at(event) ? best : event),
    undefined
  )
  const older = dated.filter(event => event !== newest).map(event => event.eventId)
  if (older.length > 0)
    await tx
      .update(platformEvents)
      .set({ processedAt: now, outcome: 'ignored', payload: {} })
      .where(sql`${platformEvents.eventId} = any(${sql.param(older)}::text[])`)
  const undated = waiting.filter(event => Number.isNaN(at(event)))
  return [...undated, ...(newest ? [newest] : [])].map(event => event.eventId)
}
