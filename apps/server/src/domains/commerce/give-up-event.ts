import { eq, sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { sqlState } from '../../infra/db/client.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { finishEvent, isMoney, lockEvent } from './events.ts'
import { platformEvents } from './tables.ts'
import { TOPICS } from './topics.ts'

/** How many lasting failures an event may have. */
const MOST_FAILURES = 5

/**
 * Counts a lasting failure of an event. After several of them, or at once if its values do not fit our columns, the
 * event ends as `unreadable` and waits for an administrator; otherwise it would keep failing unnoticed.
 * @returns whether the event has ended
 */
export async function giveUpEvent(ctx: AppContext, eventId: string, error: unknown): Promise<boolean> {
  const reason = reasonOf(error)
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
    if (isMoney(event.topic))
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

/** The innermost cause: the database's message, without the statement and its values. */
export function reasonOf(error: unknown): string {
  let inner = error
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause
  return (inner instanceof Error ? inner.message : String(inner)).slice(0, 200)
}
