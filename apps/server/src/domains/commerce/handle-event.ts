import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { isTemporaryFailure } from '../../infra/db/client.ts'
import { startOf } from '../../infra/text.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { giveUpEvent, isFaultOfDatabase } from './give-up-event.ts'
import { noteWaiting } from './waiting-events.ts'
import { finishEvent, isMoney, lockEvent } from './events.ts'
import { attentionSentence, type EventResult } from './outcomes.ts'
import { emitPaymentEvent } from './emit-events.ts'
import { isTopic, TOPICS, type EventHandlers } from './topics.ts'

/** An event cannot be handled yet. Nothing was written, and its job retries after some seconds. */
export class EventWaits extends Error {}

/**
 * Passes a stored event to its handler exactly once: it locks the event and commits all effects with the outcome in one
 * transaction. An event that keeps failing ends as `unreadable`, unless the database is at fault; then it waits.
 */
export async function handleEvent(ctx: AppContext, handlers: EventHandlers, eventId: string): Promise<void> {
  try {
    await handleOnce(ctx, handlers, eventId)
  } catch (error) {
    if (error instanceof EventWaits) throw error
    const waits = isTemporaryFailure(error) || isFaultOfDatabase(error)
    if (waits) await noteWaiting(ctx, eventId, error)
    if (waits || !(await giveUpEvent(ctx, eventId, error))) throw error
  }
}

async function handleOnce(ctx: AppContext, handlers: EventHandlers, eventId: string): Promise<void> {
  const attention = await command(ctx, SYSTEM, async unit => {
    const event = await lockEvent(unit, eventId)
    if (!event) return null
    const result = await handle(unit, ctx, handlers, event)
    await finishEvent(unit, event, result)
    if (isMoney(event.topic)) await emitPaymentEvent(unit, event.topic, result)
    const sentence =
      isMoney(event.topic) && !result.resolved && result.isMailed !== false ? attentionSentence(result) : null
    if (sentence !== null) {
      const reasons = { reason: sentence, reason_zh: attentionSentence(result, 'zh-CN') ?? sentence }
      const order = nameOf(result, event.payload)
      await notifyAdmins(unit, {
        // More of this kind by the same customer within the hour need no other notice.
        words: order === null ? 'payment_unreadable' : typeof result.customer === 'number' ? 'payments' : 'payment',
        params: { ...reasons, ...(order === null ? { event: eventId.slice(0, 100) } : { order }) },
        key: `payment:${causeOf(result, eventId, unit.now)}`,
        cause: 'payment',
        about: eventId
      })
    }
    return sentence
  })
  if (attention !== null) ctx.log.warn({ event: eventId, outcome: attention }, 'payment needs a look')
}

/** Events with the same cause share one notice; `sharedNotice` of payments finds them. */
const causeOf = ({ customer, outcome }: EventResult, eventId: string, now: Date): string =>
  typeof customer === 'number' ? `${outcome}:${customer}:${Math.floor(now.getTime() / HOUR)}` : eventId

async function handle(
  unit: Unit,
  ctx: AppContext,
  handlers: EventHandlers,
  { topic, payload }: { topic: string; payload: unknown }
): Promise<EventResult> {
  if (!isTopic(topic)) return { outcome: 'ignored' }
  const event = TOPICS[topic].safeParse(payload)
  if (!event.success) return { outcome: 'unreadable' }
  return handlers[topic](unit, event.data as never, ctx)
}

/** The platform's name of a payment's order; null if the event has none. */
function nameOf({ about }: EventResult, payload: unknown): string | null {
  const paid = TOPICS['orders/paid'].safeParse(payload)
  const name = about?.platformOrderName ?? about?.platformOrderId ?? (paid.success ? paid.data.name : null)
  return name ? startOf(name, 100) : null
}
