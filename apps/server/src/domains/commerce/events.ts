import type { EventOutcome, Resolution } from '@netlet/contract'
import { and, eq, inArray, isNotNull, isNull, or } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { storableJson } from '../../infra/db/storable-json.ts'
import { needsAttention, type EventResult } from './outcomes.ts'
import { applyProductEventQueue, settlePaymentQueue } from './queues.ts'
import { platformEvents } from './tables.ts'

/** How the ids of events begin that the reconciliation found, and no webhook told. */
export const RECONCILED = 'reconciled:'

/** Is it the id of a product? Bodies of another shape have anything there. */
const isProductId = (about: string | null): about is string => /^\d{1,20}$/.test(about ?? '')

export type PlatformEvent = { eventId: string; topic: string; payload: unknown }

/**
 * Stores an event of the platform and enqueues the job that handles it.
 * @returns false where the event is known already: then it causes nothing
 */
export async function storeEvent(unit: Unit, event: PlatformEvent): Promise<boolean> {
  const added = await unit.tx
    .insert(platformEvents)
    .values({ ...event, payload: storableJson(event.payload), receivedAt: unit.now })
    .onConflictDoNothing()
    .returning({ eventId: platformEvents.eventId })
  const { id = null } = (event.payload ?? {}) as { id?: string | number | null }
  if (added.length > 0) enqueueEvent(unit, { ...event, about: id === null ? null : String(id) })
  return added.length > 0
}

/**
 * Asks for an event to be handled: one about money by a job of its own, those about a product together.
 * @param about the platform's id of the product
 */
export function enqueueEvent(
  unit: Unit,
  { eventId, topic, about }: Pick<PlatformEvent, 'eventId' | 'topic'> & { about: string | null }
): void {
  if (isMoney(topic)) unit.jobs.send(settlePaymentQueue, { eventId }, { key: eventId })
  else if (isProductId(about))
    unit.jobs.send(applyProductEventQueue, { topic, product: about }, { key: `${topic} ${about}` })
  else unit.jobs.send(applyProductEventQueue, { eventId }, { key: eventId })
}

/** The event, locked until the transaction ends; undefined where there is none or it has been handled. */
export async function lockEvent({ tx }: Unit, eventId: string): Promise<PlatformEvent | undefined> {
  const [event] = await tx.select().from(platformEvents).where(eq(platformEvents.eventId, eventId)).for('update')
  return event && !event.processedAt ? event : undefined
}

/** Writes what came of an event. The caller holds its lock (`lockEvent`), or two handlers could both finish it. */
export async function finishEvent(
  unit: Unit,
  { eventId, topic }: Pick<PlatformEvent, 'eventId' | 'topic'>,
  { outcome, detail, about, resolved }: EventResult
): Promise<void> {
  const [finished] = await unit.tx
    .update(platformEvents)
    .set({
      processedAt: unit.now,
      outcome,
      detail: detail ?? null,
      needsResolution: isMoney(topic) && needsAttention(outcome),
      // The catalogue has what a product's event said, and an import would leave gigabytes of them.
      ...(isMoney(topic) || outcome === 'unreadable' ? {} : { payload: {} }),
      platformOrderId: about?.platformOrderId ?? null,
      platformOrderName: about?.platformOrderName ?? null,
      orderPublicId: about?.orderPublicId ?? null,
      ...(resolved ? { resolution: resolved.resolution, resolvedBy: resolved.by, resolvedAt: unit.now } : {})
    })
    .where(eq(platformEvents.eventId, eventId))
    .returning({ id: platformEvents.id })
  if (isMoney(topic)) unit.publish('platform_event', finished?.id)
}

/** Did the platform tell that its order was cancelled, by an event that was handled? */
export async function isCancelledThere(db: Executor, platformOrderId: string): Promise<boolean> {
  const isTold = or(eq(platformEvents.topic, 'orders/cancelled'), eq(platformEvents.outcome, 'cancelled'))
  const { platformOrderId: id, processedAt } = platformEvents
  return (await db.$count(platformEvents, and(eq(id, platformOrderId), isNotNull(processedAt), isTold))) > 0
}

/** Is the topic about orders and their money, and not about the catalogue? */
export const isMoney = (topic: string): boolean => !topic.startsWith('products/')

export type EventRow = typeof platformEvents.$inferSelect

/** The event that lists name by this id, locked until the transaction ends, whatever became of it. */
export async function lockEventById({ tx }: Unit, id: number): Promise<EventRow | undefined> {
  const [event] = await tx.select().from(platformEvents).where(eq(platformEvents.id, id)).for('update')
  return event
}

/** Writes how an administrator ended what a locked event left open. */
export async function resolveEvent(
  unit: Unit,
  id: number,
  ending: { resolution: Resolution; note: string | null; by: string; orderPublicId?: string }
): Promise<void> {
  const { resolution, note, by, orderPublicId } = ending
  await unit.tx
    .update(platformEvents)
    .set({
      resolution,
      resolutionNote: note,
      resolvedBy: by,
      resolvedAt: unit.now,
      ...(orderPublicId === undefined ? {} : { orderPublicId })
    })
    .where(eq(platformEvents.id, id))
}

/**
 * Writes the same ending on what is open of a platform's order with one of these outcomes. An event that somebody else
 * holds is being ended by them: it is passed over, since its lock comes before that of the order which the caller holds.
 */
export async function resolveEventsOf(
  unit: Unit,
  platformOrderId: string,
  outcomes: EventOutcome[],
  ending: { resolution: Resolution; note: string | null; by: string }
): Promise<void> {
  const open = await unit.tx
    .select({ id: platformEvents.id })
    .from(platformEvents)
    .where(
      and(
        eq(platformEvents.platformOrderId, platformOrderId),
        platformEvents.needsResolution,
        isNull(platformEvents.resolution),
        inArray(platformEvents.outcome, outcomes)
      )
    )
    .for('update', { skipLocked: true })
  for (const { id } of open) await resolveEvent(unit, id, ending)
}
