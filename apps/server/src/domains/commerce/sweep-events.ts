import { and, asc, isNull, lt, sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueEvent } from './events.ts'
import { platformEvents, productOf } from './tables.ts'

const BATCH = 200
/** How long an event's own job may take before the sweep, in milliseconds. */
const GRACE = 5_000

/** Enqueues stored events again if their job was lost with a process. */
export async function sweepEvents(ctx: AppContext): Promise<void> {
  const waiting = await ctx.db
    .select({ eventId: platformEvents.eventId, topic: platformEvents.topic, about: productOf(platformEvents.payload) })
    .from(platformEvents)
    .where(
      and(isNull(platformEvents.processedAt), lt(platformEvents.receivedAt, new Date(ctx.now().getTime() - GRACE)))
    )
    // Money first: any number of other events may be waiting.
    .orderBy(sql`${platformEvents.topic} like 'products/%'`, asc(platformEvents.receivedAt))
    .limit(BATCH)
  if (waiting.length > 0)
    await command(ctx, SYSTEM, async unit => {
      for (const event of waiting) enqueueEvent(unit, event)
    })
}
