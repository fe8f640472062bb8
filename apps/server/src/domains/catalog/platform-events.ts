import { eq } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { storableJson } from '../../infra/db/storable-json.ts'
import { platformEvents } from '../orders/tables.ts'

export type PlatformEvent = { eventId: string; topic: string; payload: unknown }

/**
 * Notes a webhook of the platform. Call it in the transaction that enqueues what the event causes.
 * @returns false where the event is known already: then it must cause nothing
 */
export async function recordPlatformEvent(tx: Executor, event: PlatformEvent): Promise<boolean> {
  const added = await tx
    .insert(platformEvents)
    .values({ ...event, payload: storableJson(event.payload) })
    .onConflictDoNothing()
    .returning({ eventId: platformEvents.eventId })
  return added.length > 0
}

/** The event, locked until the transaction ends; undefined where there is none or it has been dealt with. */
export async function takePlatformEvent(tx: Executor, eventId: string): Promise<PlatformEvent | undefined> {
  const [event] = await tx.select().from(platformEvents).where(eq(platformEvents.eventId, eventId)).for('update')
  return event && !event.processedAt ? event : undefined
}

/** Marks an event as dealt with. @param outcome what came of it, for an administrator */
export async function finishPlatformEvent(tx: Executor, eventId: string, outcome: string, at: Date): Promise<void> {
  await tx.update(platformEvents).set({ processedAt: at, outcome }).where(eq(platformEvents.eventId, eventId))
}
