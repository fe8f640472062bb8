import type { z } from 'zod'
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

/** The shapes of the topics that cause something. A new product causes nothing before an administrator adds it. */
export const TOPICS = {
  'orders/paid': PaidOrder,
  'orders/cancelled': CancelledOrder,
  'refunds/create': RefundEvent,
  'disputes/create': DisputeEvent,
  'disputes/update': DisputeEvent,
  'products/update': ProductEvent,
  'products/delete': ProductDeletedEvent
}

export type Topic = keyof typeof TOPICS

/** What the higher domains do with each topic, within the transaction that writes down the outcome. */
export type EventHandlers = {
  [T in Topic]: (unit: Unit, event: z.output<(typeof TOPICS)[T]>, ctx: AppContext) => Promise<EventResult>
}

export const isTopic = (topic: string): topic is Topic => Object.hasOwn(TOPICS, topic)
