import { eq, sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { sqlState } from '../../infra/db/client.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { finishEvent, isMoney, lockEvent } from './events.ts'
import { platformEvents } from './tables.ts'
import { TOPICS } from './topics.ts'

/** How often an event is tried whose handling fails for a reason that lasts. */
const MOST_FAILURES = 5

/**
 * Counts a failure of an event's handling that is not a matter of the moment. After some of them, or at once where its
 * values do not fit our columns, the event ends as `unreadable` and waits for an administrator: nobody would see it fail.
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
 * The database, and not the event: its structure is another version's than ours, as while a newer one has migrated and this
 * process still runs (42); it is out of something, stopped, or broken (53 to 58, XX); or it waited for a lock for too long.
 */
export const isFaultOfDatabase = (error: unknown): boolean =>
  /^(08|25|42|53|55|57|58|F0|XX)/.test(sqlState(error) ?? '')

/** Class 22, data exception: such as a number that is too large. It fails the same way each time. */
const isBadValue = (error: unknown): boolean => sqlState(error)?.startsWith('22') === true

/** The innermost cause: what the database says, not the statement with its values. */
export function reasonOf(error: unknown): string {
  let inner = error
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause
  return (inner instanceof Error ? inner.message : String(inner)).slice(0, 200)
}
