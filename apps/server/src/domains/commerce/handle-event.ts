import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { isTemporaryFailure } from '../../infra/db/client.ts'
import { startOf } from '../../infra/text.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { giveUpEvent, isFaultOfDatabase, recordWaiting } from './waiting-events.ts'
import { finishEvent, isReport, lockEvent } from './events.ts'
import { type EventHandlers, type EventResult, TOPICS, attentionSentence, isTopic, needsAttention } from './topics.ts'
import type { EventOutcome } from '@netlet/contract'
import { type Happened, emitEvent } from '../webhooks/index.ts'

/** Outcomes of reports that were known before or do not concern us. */
const NO_NEWS: ReadonlySet<EventOutcome> = new Set(['ignored', 'not_paid'])

/**
 * Sends the outcome of a report about money to the operators' webhooks, and whether it needs attention. Amounts and the
 * buyer's data are only in the console.
 */
async function emitPaymentEvent(unit: Unit, topic: string, { outcome, about, resolved }: EventResult): Promise<void> {
  const data = {
    outcome,
    platform_order: about?.platformOrderName ?? about?.platformOrderId ?? null,
    order: about?.orderPublicId ?? null
  }
  const type = NO_NEWS.has(outcome) ? null : typeOf(topic)
  if (type) await emitEvent(unit, { type, userId: null, data })
  if (needsAttention(outcome) && !resolved) await emitEvent(unit, { type: 'payment.attention', userId: null, data })
}

function typeOf(topic: string): Happened['type'] | null {
  if (topic === 'orders/paid') return 'payment.received'
  if (topic.startsWith('disputes/')) return 'payment.disputed'
  return topic === 'orders/cancelled' || topic === 'refunds/create' || topic === 'reconciled/refund'
    ? 'payment.refunded'
    : null
}

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
    if (waits) await recordWaiting(ctx, eventId, error)
    if (waits || !(await giveUpEvent(ctx, eventId, error))) throw error
  }
}

async function handleOnce(ctx: AppContext, handlers: EventHandlers, eventId: string): Promise<void> {
  const attention = await command(ctx, SYSTEM, async unit => {
    const event = await lockEvent(unit, eventId)
    if (!event) return null
    const result = await handle(unit, ctx, handlers, event)
    await finishEvent(unit, event, result)
    if (isReport(event.topic)) await emitPaymentEvent(unit, event.topic, result)
    const sentence = isReport(event.topic) && !result.resolved ? attentionSentence(result) : null
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

/** Events with the same cause share one notice, which `sharedNotice` in inbox/index.ts finds. */
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
