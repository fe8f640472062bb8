import { fillIn, type Params } from '@netlet/contract'

/** What can come of an event. */
export const EVENT_OUTCOMES = [
  'settled',
  'duplicate',
  'unknown_order',
  'underpaid',
  'too_late',
  'paid_twice',
  'renewal_too_late',
  'renewal_underpaid',
  'unreadable',
  'applied',
  'withdrawn',
  'not_sold',
  'older',
  'ignored'
] as const
type EventOutcome = (typeof EVENT_OUTCOMES)[number]

/** What a handler made of an event. `detail` fills the outcome's sentence. */
export type EventResult = { outcome: EventOutcome; detail?: Params }

/** Outcomes of a payment that an administrator has to look at, in words. */
const ATTENTION: Partial<Record<EventOutcome, string>> = {
  unknown_order: 'no order of ours is named (order_id {order_id})',
  underpaid: 'order {order_id}: paid {paid} of {due}',
  too_late: 'order {order_id} was paid too late: its addresses are gone',
  paid_twice: 'order {order_id} was paid already; refund {platform_order}',
  renewal_too_late: 'order {order_id} is {state} and cannot be renewed; refund {platform_order}',
  renewal_underpaid: 'renewal of order {order_id}: paid {paid} of {due}',
  unreadable: 'unreadable: this is no paid order'
}

/** Outcomes of payments that somebody has to do something about. */
export const NEEDS_HAND = Object.keys(ATTENTION) as EventOutcome[]

/** The sentence for administrators; null where a payment's outcome needs nobody. */
export function attentionSentence({ outcome, detail }: EventResult): string | null {
  const sentence = ATTENTION[outcome]
  return sentence === undefined ? null : fillIn(sentence, detail)
}
