import { eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { storableJson } from '../../infra/db/storable-json.ts'
import type { EventResult } from './outcomes.ts'
import { applyProductEventQueue, settlePaymentQueue } from './queues.ts'
import { platformEvents } from './tables.ts'

/** How the ids of events begin that the reconciliation found, and no webhook told. */
export const RECONCILED = 'reconciled:'

export type PlatformEvent = { eventId: string; topic: string; payload: unknown }

/**
 * Stores an event of the platform and enqueues the job that handles it.
 * @returns false where the event is known already: then it causes nothing
 */
export async function storeEvent(unit: Unit, event: PlatformEvent): Promise<boolean> {
  const added = await unit.tx
    .insert(platformEvents)
    .values({ ...event, payload: storableJson(event.payload) })
    .onConflictDoNothing()
    .returning({ eventId: platformEvents.eventId })
  if (added.length > 0) enqueueEvent(unit, event)
  return added.length > 0
}

export function enqueueEvent(unit: Unit, { eventId, topic }: Pick<PlatformEvent, 'eventId' | 'topic'>): void {
  const to = topic.startsWith('products/') ? applyProductEventQueue : settlePaymentQueue
  unit.jobs.send(to, { eventId }, { key: eventId })
}

/** The event, locked until the transaction ends; undefined where there is none or it has been handled. */
export async function lockEvent({ tx }: Unit, eventId: string): Promise<PlatformEvent | undefined> {
  const [event] = await tx.select().from(platformEvents).where(eq(platformEvents.eventId, eventId)).for('update')
  return event && !event.processedAt ? event : undefined
}

/** Writes what came of an event. The caller holds its lock (`lockEvent`), or two handlers could both finish it. */
export async function finishEvent(unit: Unit, eventId: string, { outcome, detail }: EventResult): Promise<void> {
  await unit.tx
    .update(platformEvents)
    .set({ processedAt: unit.now, outcome, detail: detail ?? null })
    .where(eq(platformEvents.eventId, eventId))
}
