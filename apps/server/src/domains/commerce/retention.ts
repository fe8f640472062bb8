import { and, inArray, isNotNull, lt, not, sql, type SQL } from '../../infra/db/drizzle.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { platformEvents } from './tables.ts'

/** Only these payloads may have a buyer's name. Whether another event is open is derived from its own. */
const hasPayload = sql`(${platformEvents.payload} <> '{}'
  and ${platformEvents.topic} not in ('disputes/create', 'disputes/update', 'reconciled/refund', 'reconciled/doubt'))`

/**
 * Never touches events that wait for their handling or for an administrator.
 * @param isUnresolved condition for events that wait for an administrator, from the domain inbox
 */
export function commerceRetention(isUnresolved: SQL): RetentionEntry[] {
  const isSettled = and(isNotNull(platformEvents.processedAt), not(isUnresolved))
  return [
    {
      what: 'event_payloads',
      keep: { setting: 'keep_event_payloads_days' },
      why: "Contents of platform events, including buyers' names and addresses. Needed only to investigate a payment.",
      async remove({ tx }, before, limit) {
        const old = tx
          .select({ eventId: platformEvents.eventId })
          .from(platformEvents)
          .where(and(lt(platformEvents.receivedAt, before), hasPayload, isSettled))
          .limit(limit)
          .for('update', { skipLocked: true })
        const emptied = await tx
          .update(platformEvents)
          .set({ payload: {} })
          .where(inArray(platformEvents.eventId, old))
          .returning({ eventId: platformEvents.eventId })
        return emptied.length
      },
      count: db => countRows(db, platformEvents, platformEvents.receivedAt, hasPayload)
    },
    {
      what: 'platform_events',
      keep: { setting: 'keep_events_days' },
      why: 'Received events and their results. The shop recognises a repeated event for as long as it is kept.',
      remove: (unit, before, limit) =>
        removeRows(unit, platformEvents, and(lt(platformEvents.receivedAt, before), isSettled), limit),
      count: db => countRows(db, platformEvents, platformEvents.receivedAt)
    }
  ]
}
