import { and, asc, count, eq, isNull, lt, min } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { mailAdmins } from '../accounts/index.ts'
import { readCheck, recordCheck } from './checks.ts'
import { reasonOf } from './give-up-event.ts'
import { platformEvents } from './tables.ts'

/** An event that has waited for longer needs somebody: short faults are over by then. */
const LATE = HOUR

const isLate = (now: Date) =>
  and(isNull(platformEvents.processedAt), lt(platformEvents.receivedAt, new Date(now.getTime() - LATE)))

/** Writes down what an event waits for. Where the database cannot even do that, it says so itself in the log. */
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

/** How many events wait, since when, and what the oldest of them waits for. */
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

/** Figures in what the database says, such as those of a process, make it no other cause. */
const causeOf = (reason: string | null): string => (reason ?? 'unknown').replace(/\d+/g, '#')

/** Tells the administrators of events that have waited for more than an hour, once for each cause until it changes or ends. */
export async function reportLateEvents(ctx: AppContext): Promise<void> {
  const told = (await readCheck(ctx.db, 'late_events_told'))?.result.cause ?? null
  const late = await countLateEvents(ctx.db, ctx.now())
  if (late === 0 && told === null) return
  const { oldest, reason } = await waitingEvents(ctx.db)
  const cause = late === 0 || oldest === null ? null : causeOf(reason)
  if (cause === told) return
  await command(ctx, SYSTEM, async unit => {
    await recordCheck(unit, 'late_events_told', { cause })
    if (cause === null || oldest === null) return
    await mailAdmins(unit, {
      template: 'events-waiting',
      data: { count: late, since: iso(oldest), reason },
      key: `late-events:${iso(oldest)}:${cause}`
    })
  })
  if (cause !== null) ctx.log.error({ late, reason }, 'events of the platform have waited for more than an hour')
}
