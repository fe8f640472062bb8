import { z } from 'zod'
import {
  CancelledOrder,
  DisputeEvent,
  PaidOrder,
  ProductDeletedEvent,
  ProductEvent,
  RefundEvent
} from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { EventResult } from './outcomes.ts'

const Cents = z.string().regex(/^\d{1,10}\.\d\d$/)

/** Told by no webhook: the platform counts a refund that is known otherwise than we do. */
export const ChangedRefund = z.object({
  order_id: z.string(),
  name: z.string(),
  /** 'refund:<id>', or 'reported:<order>': all of it, by the platform's status. */
  key: z.string(),
  /** What of it counted when they were compared: where that is another by now, nothing follows. */
  known: Cents,
  /** What the platform says; null: all of the payment. */
  amount: Cents.nullable(),
  /** The platform's status of its order then. */
  status: z.string().nullish()
})
export type ChangedRefund = z.infer<typeof ChangedRefund>

/** The same: more counts as given back than the platform's status of its order allows for. */
export const DoubtfulRefund = z.object({ order_id: z.string(), name: z.string(), amount: Cents, status: z.string() })
export type DoubtfulRefund = z.infer<typeof DoubtfulRefund>

/** The shapes of the topics that cause something. A new product causes nothing before an administrator adds it. */
export const TOPICS = {
  'orders/paid': PaidOrder,
  'orders/cancelled': CancelledOrder,
  'refunds/create': RefundEvent,
  'disputes/create': DisputeEvent,
  'disputes/update': DisputeEvent,
  'reconciled/refund': ChangedRefund,
  'reconciled/doubt': DoubtfulRefund,
  'products/update': ProductEvent,
  'products/delete': ProductDeletedEvent
}

export type Topic = keyof typeof TOPICS

/** What the higher domains do with each topic, within the transaction that writes down the outcome. */
export type EventHandlers = {
  [T in Topic]: (unit: Unit, event: z.output<(typeof TOPICS)[T]>, ctx: AppContext) => Promise<EventResult>
}

export const isTopic = (topic: string): topic is Topic => Object.hasOwn(TOPICS, topic)
