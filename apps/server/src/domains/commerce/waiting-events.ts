import { reasonOf, startOf } from '../../infra/text.ts'
import { and, asc, count, eq, isNull, lt, min, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { type Executor, sqlState } from '../../infra/db/client.ts'
import { platformEvents } from './tables.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { finishEvent, isReport, lockEvent } from './events.ts'
import { TOPICS } from './topics.ts'

/** How many lasting failures an event may have. */
const MOST_FAILURES = 5

/**
 * Counts a lasting failure of an event. After several of them, or at once if its values do not fit our columns, the
 * event ends as `unreadable` and waits for an administrator; otherwise it would keep failing unnoticed.
 * @returns whether the event has ended
 */
export async function giveUpEvent(ctx: AppContext, eventId: string, error: unknown): Promise<boolean> {
  const reason = shortReason(error)
  const ended = await command(ctx, SYSTEM, async unit => {
    const event = await lockEvent(unit, eventId)
    if (!event) return true
    const [counted] = await unit.tx
      .update(platformEvents)
      .set({ failures: sql`${platformEvents.failures} + 1` })
      .where(eq(platformEvents.eventId, eventId))
      .returning({ failures: platformEvents.failures })
    if ((counted?.failures ?? 0) < (isBadValue(error) ? 1 : MOST_FAILURES)) return false
    const paid = event.topic === 'orders/paid' ? TOPICS['orders/paid'].safeParse(event.payload) : undefined
    const about = paid?.success && {
      platformOrderId: paid.data.id,
      platformOrderName: paid.data.name.slice(0, 100)
    }
    await finishEvent(unit, event, { outcome: 'unreadable', detail: { reason }, ...(about ? { about } : {}) })
    if (isReport(event.topic))
      await notifyAdmins(unit, {
        words: 'payment_unreadable',
        params: { reason, event: eventId.slice(0, 100) },
        key: `payment:${eventId}`,
        cause: 'payment',
        about: eventId
      })
    return true
  })
  if (ended) ctx.log.error({ err: error, event: eventId }, 'an event of the platform could not be handled')
  return ended
}

/**
 * The fault is the database's, not the event's: a newer version has migrated it while this process still runs (42); it
 * is out of resources, stopped or broken (53 to 58, XX); or a lock took too long.
 */
export const isFaultOfDatabase = (error: unknown): boolean =>
  /^(08|25|42|53|55|57|58|F0|XX)/.test(sqlState(error) ?? '')

/** Class 22, data exception, such as a number that is too large: it fails every time. */
const isBadValue = (error: unknown): boolean => sqlState(error)?.startsWith('22') === true

const shortReason = (error: unknown): string => startOf(reasonOf(error), 200)

/** Short faults are over after this time. An event that still waits needs an administrator. */
const LATE = HOUR

export const isLate = (now: Date) =>
  and(isNull(platformEvents.processedAt), lt(platformEvents.receivedAt, new Date(now.getTime() - LATE)))

/** Records what an event waits for. If even that fails, the database reports it in its own log. */
export async function recordWaiting(ctx: AppContext, eventId: string, error: unknown): Promise<void> {
  const waitsFor = shortReason(error)
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
