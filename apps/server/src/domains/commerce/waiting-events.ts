import { and, asc, count, eq, isNull, lt, min } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { reasonOf } from './give-up-event.ts'
import { platformEvents } from './tables.ts'

/** Short faults are over after this time. An event that still waits needs an administrator. */
const LATE = HOUR

export const isLate = (now: Date) =>
  and(isNull(platformEvents.processedAt), lt(platformEvents.receivedAt, new Date(now.getTime() - LATE)))

/** Records what an event waits for. If even that fails, the database reports it in its own log. */
export async function noteWaiting(ctx: AppContext, eventId: string, error: unknown): Promise<void> {
  const waitsFor = reasonOf(error)
  try {
    await command(ctx, SYSTEM, async ({ tx }) => {
      await tx
        .update(platformEvents)
        .set({ waitsFor })
        .where(and(eq(platformEvents.eventId, eventId), isNull(platformEvents.processedAt)))
    })
  } catch (failure) {
    ctx.log.warn({ err: failure, event: eventId }, 'what an event waits for was not written down')
  }
}

/** How many events have waited for more than an hour. */
export const countLateEvents = (db: Executor, now: Date): Promise<number> => db.$count(platformEvents, isLate(now))

/** How many events wait, since when, and what the oldest one waits for. */
export async function waitingEvents(db: Executor) {
  const waiting = isNull(platformEvents.processedAt)
  const [found] = await db
    .select({ count: count(), oldest: min(platformEvents.receivedAt) })
    .from(platformEvents)
    .where(waiting)
  const [oldest] = await db
    .select({ reason: platformEvents.waitsFor })
    .from(platformEvents)
    .where(waiting)
    .orderBy(asc(platformEvents.receivedAt))
    .limit(1)
  return { count: found?.count ?? 0, oldest: found?.oldest ?? null, reason: oldest?.reason ?? null }
}
