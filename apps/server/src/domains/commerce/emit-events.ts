import type { EventOutcome } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import { emitEvent, type Happened } from '../webhooks/index.ts'
import { needsAttention, type EventResult } from './outcomes.ts'

/** Outcomes of reports that were known before or do not concern us. */
const NO_NEWS: ReadonlySet<EventOutcome> = new Set(['ignored', 'not_paid'])

/**
 * Sends the outcome of a report about money to the operators' webhooks, and whether it needs attention. Amounts and the
 * buyer's data are only in the console.
 */
export async function emitPaymentEvent(
  unit: Unit,
  topic: string,
  { outcome, about, resolved }: EventResult
): Promise<void> {
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
