import type { EventOutcome, Resolution } from '@netlet/contract'
import { and, asc, eq, inArray, isNotNull, isNull, lt, or, sql } from '../../infra/db/drizzle.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { storableJson } from '../../infra/text.ts'
import { needsAttention, type EventResult, type FurtherOutcome } from './topics.ts'
import { applyProductEventQueue, moneyEventQueue } from './queues.ts'
import { platformEvents, productOf } from './tables.ts'
import { SYSTEM } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'

const BATCH = 200
/** An event younger than this, in milliseconds, is left to its own job. */
const GRACE = 5_000

/** Enqueues stored events again if their job was lost with a process. */
export async function sweepEvents(ctx: AppContext): Promise<void> {
  const waiting = await ctx.db
    .select({ eventId: platformEvents.eventId, topic: platformEvents.topic, about: productOf(platformEvents.payload) })
    .from(platformEvents)
    .where(
      and(isNull(platformEvents.processedAt), lt(platformEvents.receivedAt, new Date(ctx.now().getTime() - GRACE)))
    )
    // Money first: any number of other events may be waiting.
    .orderBy(sql`${platformEvents.topic} like 'products/%'`, asc(platformEvents.receivedAt))
    .limit(BATCH)
  if (waiting.length > 0)
    await command(ctx, SYSTEM, async unit => {
      for (const event of waiting) enqueueEvent(unit, event)
    })
}

/** Prefix of the ids of events that the reconciliation found without a webhook. */
export const RECONCILED = 'reconciled:'

/** Prefix of the ids of events about edited orders. We subscribe to no webhook for these. */
export const EDITED = `${RECONCILED}edited:`

/** Is it a product's id? Malformed bodies may contain anything. */
const isProductId = (about: string | null): about is string => /^\d{1,20}$/.test(about ?? '')

export type PlatformEvent = { eventId: string; topic: string; payload: unknown }

/**
 * Stores an event of the platform and enqueues its job.
 * @returns false if the event is already stored; then nothing happens
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

/** Stores a second outcome of a report as an event of its own. @param key the same key is stored once */
export const storeFurther = (unit: Unit, key: string, payload: FurtherOutcome): Promise<boolean> =>
  storeEvent(unit, { eventId: `${RECONCILED}${key}`, topic: 'reconciled/doubt', payload })

/**
 * Enqueues the handling of an event: its own job for money, one job for all events of a product.
 * @param about the platform's id of the product
 */
function enqueueEvent(
  unit: Unit,
  { eventId, topic, about }: Pick<PlatformEvent, 'eventId' | 'topic'> & { about: string | null }
): void {
  if (isMoney(topic)) unit.jobs.send(moneyEventQueue, { eventId }, { key: eventId })
  else if (isProductId(about))
    unit.jobs.send(applyProductEventQueue, { topic, product: about }, { key: `${topic} ${about}` })
  else unit.jobs.send(applyProductEventQueue, { eventId }, { key: eventId })
}

/** The event, locked until the transaction ends; undefined if it does not exist or has been handled. */
export async function lockEvent({ tx }: Unit, eventId: string): Promise<PlatformEvent | undefined> {
  const [event] = await tx.select().from(platformEvents).where(eq(platformEvents.eventId, eventId)).for('update')
  return event && !event.processedAt ? event : undefined
}

/** Records an event's outcome. The caller holds its lock (`lockEvent`), or two handlers could both finish it. */
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
      needsResolution: isReport(topic) && needsAttention(outcome),
      // The catalogue already has a product event's data, and the payloads of an import would take gigabytes.
      ...(isReport(topic) || (outcome === 'unreadable' && !isAnnouncement(topic)) ? {} : { payload: {} }),
      platformOrderId: about?.platformOrderId ?? null,
      platformOrderName: about?.platformOrderName ?? null,
      orderPublicId: about?.orderPublicId ?? null,
      ...(resolved ? { resolution: resolved.resolution, resolvedBy: resolved.by, resolvedAt: unit.now } : {})
    })
    .where(eq(platformEvents.eventId, eventId))
    .returning({ id: platformEvents.id })
  if (isReport(topic)) unit.publish('platform_event', finished?.id)
}

/** Has the platform reported, in a handled event, that its order was cancelled? */
export async function isCancelledThere(db: Executor, platformOrderId: string): Promise<boolean> {
  const isTold = or(eq(platformEvents.topic, 'orders/cancelled'), eq(platformEvents.outcome, 'cancelled'))
  const { platformOrderId: id, processedAt } = platformEvents
  return (await db.$count(platformEvents, and(eq(id, platformOrderId), isNotNull(processedAt), isTold))) > 0
}

/** Was a payment for other goods of the platform alone? It is, if its report was ignored and it has no row in `payments`. */
export async function isIgnoredThere(db: Executor, platformOrderId: string): Promise<boolean> {
  const { platformOrderId: id, topic, outcome } = platformEvents
  return (
    (await db.$count(platformEvents, and(eq(id, platformOrderId), eq(topic, 'orders/paid'), eq(outcome, 'ignored')))) >
    0
  )
}

/** Is the topic about orders and their money, not about the catalogue? */
const isMoney = (topic: string): boolean => !topic.startsWith('products/')

/** Does it announce what is reported or read later? Then nothing has to be decided or kept. */
const isAnnouncement = (topic: string): boolean => topic === 'orders/create' || topic === 'order_transactions/create'

/** Does the event report money, and is it listed in the inbox? See `isAboutMoney`. */
export const isReport = (topic: string): boolean => isMoney(topic) && !isAnnouncement(topic)

export type EventRow = typeof platformEvents.$inferSelect

/** The event with the id that lists use, handled or not, locked until the transaction ends. */
export async function lockEventById({ tx }: Unit, id: number): Promise<EventRow | undefined> {
  const [event] = await tx.select().from(platformEvents).where(eq(platformEvents.id, id)).for('update')
  return event
}

/** Records how an administrator resolved a locked event. */
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
 * Resolves the open events of a platform order that have one of these outcomes. Skips events that another transaction
 * has locked and is resolving: events are locked before orders, and the caller already holds the order.
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
