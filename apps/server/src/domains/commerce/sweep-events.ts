import { and, asc, isNull, lt, sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueEvent } from './events.ts'
import { platformEvents, productOf } from './tables.ts'

const BATCH = 200
/** Milliseconds in which an event's own job should have come by. */
const GRACE = 5_000

/** Asks again for events that were stored some time ago and whose job a dying process took with it. */
export async function sweepEvents(ctx: AppContext): Promise<void> {
  const waiting = await ctx.db
    .select({ eventId: platformEvents.eventId, topic: platformEvents.topic, about: productOf(platformEvents.payload) })
    .from(platformEvents)
    .where(
      and(isNull(platformEvents.processedAt), lt(platformEvents.receivedAt, new Date(ctx.now().getTime() - GRACE)))
    )
    // Money first: any number of other events may wait for something else.
    .orderBy(sql`${platformEvents.topic} like 'products/%'`, asc(platformEvents.receivedAt))
    .limit(BATCH)
  if (waiting.length > 0)
    await command(ctx, SYSTEM, async unit => {
      for (const event of waiting) enqueueEvent(unit, event)
    })
}
