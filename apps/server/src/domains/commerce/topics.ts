import {
  ATTENTION,
  ATTENTION_ZH,
  type AttentionOutcome,
  type EventOutcome,
  type Language,
  type Params,
  type Resolution,
  fillIn
} from '@netlet/contract'
import { z } from 'zod'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import {
  CancelledOrder,
  DisputeEvent,
  PaidOrder,
  ProductDeletedEvent,
  ProductEvent,
  RefundEvent,
  TransactionEvent
} from '../../integrations/shopify/index.ts'

const Cents = z.string().regex(/^\d{1,10}\.\d\d$/)

/** An internal event without a webhook: the platform's amount of a known refund differs from ours. */
export const ChangedRefund = z.object({
  order_id: z.string(),
  name: z.string(),
  /** 'refund:<id>', or 'reported:<order>': all of it, by the platform's status. */
  key: z.string(),
  /** The amount that counted at the comparison. If it has changed since, nothing happens. */
  known: Cents,
  /** The platform's amount; null: all of the payment. */
  amount: Cents.nullable(),
  /** '3.85 GBP': what it is more in the buyer's currency, if all of the refund was reported in that. */
  foreign: z.string().nullish(),
  /** The platform's status of its order at that time. */
  status: z.string().nullish()
})
export type ChangedRefund = z.infer<typeof ChangedRefund>

/**
 * Another internal event: more counts as refunded than the platform's status of its order allows, or a pending refund
 * failed or stays without a result.
 */
export const DoubtfulRefund = z.object({
  order_id: z.string(),
  name: z.string(),
  amount: Cents,
  status: z.string(),
  /** The refund itself has had no result for this long. */
  days: z.number().int().optional(),
  /** The key of a refund that failed or has no result. */
  key: z.string().optional()
})
export type DoubtfulRefund = z.infer<typeof DoubtfulRefund>

/** A second outcome of a report, which waits for an administrator beside the first. `detail` fills its sentence. */
export const FurtherOutcome = z.object({
  order_id: z.string(),
  outcome: z.enum(['refunded_twice', 'lines_more', 'part_paid']),
  detail: z.record(z.string(), z.union([z.string(), z.number()]))
})
export type FurtherOutcome = z.infer<typeof FurtherOutcome>

/** The payloads of topics that have an effect. New products have none until an administrator adds them. */
export const TOPICS = {
  'orders/create': PaidOrder,
  'orders/paid': PaidOrder,
  'orders/cancelled': CancelledOrder,
  'refunds/create': RefundEvent,
  'order_transactions/create': TransactionEvent,
  'disputes/create': DisputeEvent,
  'disputes/update': DisputeEvent,
  'reconciled/refund': ChangedRefund,
  'reconciled/doubt': z.union([FurtherOutcome, DoubtfulRefund]),
  'products/update': ProductEvent,
  'products/delete': ProductDeletedEvent
}

export type Topic = keyof typeof TOPICS

/** The handlers of higher domains, called within the transaction that records the outcome. */
export type EventHandlers = {
  [T in Topic]: (unit: Unit, event: z.output<(typeof TOPICS)[T]>, ctx: AppContext) => Promise<EventResult>
}

export const isTopic = (topic: string): topic is Topic => Object.hasOwn(TOPICS, topic)

/** A handler's result. `detail` fills the outcome's sentence, `about` names the orders. */
export type EventResult = {
  outcome: EventOutcome
  detail?: Params
  about?: EventSubject
  /** An administrator caused the event, so it needs no attention. */
  resolved?: { resolution: Resolution; by: string }
  /**
   * Whose payment it is, if customers can cause such events for cents: operators get one notice an hour for each
   * customer and outcome. Null: the customer is unknown. Missing or null: one notice for each event.
   */
  customer?: number | null
}

type EventSubject = { platformOrderId: string; platformOrderName?: string | null; orderPublicId?: string | null }

/** Must an administrator look at this outcome of a payment? */
export const needsAttention = (outcome: EventOutcome): outcome is AttentionOutcome => outcome in ATTENTION

/** The sentence for administrators; null if the outcome needs none. */
export function attentionSentence(
  { outcome, detail }: Pick<EventResult, 'outcome' | 'detail'>,
  language: Language = 'en'
): string | null {
  if (!needsAttention(outcome)) return null
  return fillIn((language === 'en' ? ATTENTION : ATTENTION_ZH)[outcome], detail)
}
