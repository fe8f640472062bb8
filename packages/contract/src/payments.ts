import { z } from 'zod'
import { message } from './form-messages.ts'
import { listQuery, page } from './list.ts'
import { LARGE_REFUND, RefundForm, RefundPlan } from './order.ts'
import { EVENT_OUTCOMES, PAYMENT_STATES, REFUND_STATES, RESOLUTIONS } from './payment-codes.ts'
import { route } from './route.ts'
import { Done, IdParams, Money, ReasonParams, Time, formVersion, text } from './shapes.ts'

/** A payment event of the platform and its outcome. */
export const InboxEntry = z.object({
  id: z.number(),
  received_at: Time,
  /** 'orders/paid', 'refunds/create' … */
  topic: z.string(),
  /** Null: not handled yet. */
  outcome: z.enum(EVENT_OUTCOMES).nullable(),
  /** The English sentence of an outcome that needs attention. */
  summary: z.string().nullable(),
  /** Values for the outcome's sentence. */
  params: ReasonParams,
  unresolved: z.boolean(),
  /** The error for which an unhandled event is waiting. */
  waits_for: z.string().nullable(),
  /** '#1001'. */
  platform_order: z.string().nullable(),
  platform_order_id: z.string().nullable(),
  /** Our order: its public number and its id. */
  order: z.string().nullable(),
  order_id: z.number().nullable(),
  username: z.string().nullable(),
  kind: z.enum(['purchase', 'renewal']).nullable(),
  /** The amount the platform charged, in `currency`. */
  charged: Money.nullable(),
  currency: z.string().nullable(),
  refunded: Money.nullable(),
  payment: z.enum(PAYMENT_STATES).nullable(),
  resolution: z.enum(RESOLUTIONS).nullable(),
  resolution_note: z.string().nullable(),
  resolved_by: z.string().nullable(),
  resolved_at: Time.nullable(),
  version: z.string()
})
export type InboxEntry = z.infer<typeof InboxEntry>

export const InboxDetail = z.object({
  entry: InboxEntry,
  email: z.string().nullable(),
  /** The lines of the platform's order. */
  lines: z.array(z.object({ title: z.string(), variant: z.string(), quantity: z.number(), price: Money })),
  /** What our order needs, and how much of it the platform's lines cover. */
  needed: z.array(z.object({ name: z.string(), quantity: z.number(), paid: z.number() })),
  /** The public number of the customer's only order that these lines would pay for, if the payment names none. */
  proposed: z.string().nullable()
})
export type InboxDetail = z.infer<typeof InboxDetail>

/** A payment on the platform for an order. */
export const Payment = z.object({
  id: z.number(),
  created_at: Time,
  /** Our order: its public number and its id. */
  order: z.string(),
  order_id: z.number(),
  /** '#1001'. */
  platform_order: z.string(),
  kind: z.enum(['purchase', 'renewal']),
  state: z.enum(PAYMENT_STATES),
  /** The amount the platform charged, in `currency`. */
  charged: Money,
  currency: z.string(),
  /** Its value in the shop's currency, and the refunded part. */
  amount: Money,
  refunded_amount: Money
})
export type Payment = z.infer<typeof Payment>

/** A payment as shown on its order's page. */
export const OrderPayment = Payment.omit({ order: true, order_id: true }).extend({
  platform_order_id: z.string(),
  /** The order's page on the platform; null if the platform is not connected. */
  platform_url: z.string().nullable(),
  /** The platform's discount. */
  discount: Money,
  /** The part that counts: nothing if it is held, ignored or refunded. */
  counts: Money,
  /** Days it paid for; null while none. */
  days: z.number().nullable(),
  /** When its last part was refunded. */
  refunded_at: Time.nullable(),
  /** The platform's lines; empty for payments older than these records. */
  lines: z.array(z.object({ title: z.string(), quantity: z.number(), price: Money })),
  /** Refunds requested and made, in the payment's currency; null: all of it. */
  refunds: z.array(
    z.object({
      kind: z.enum(['refund', 'dispute']),
      state: z.enum(REFUND_STATES),
      amount: Money.nullable(),
      /** '15.40 GBP' if only the foreign amount is known; `amount` is then null. */
      foreign_amount: z.string().nullable(),
      /** The administrator who requested it in the console. */
      asked_by: z.string().nullable(),
      at: Time,
      reversed_at: Time.nullable()
    })
  )
})
export type OrderPayment = z.infer<typeof OrderPayment>

const note = text(message('enter_reason'), 500)

/** The version of the confirmed plan. The decision is refused if it would now do something else. */
const agreed = { plan: z.string().max(100).optional() }

/** `order`: the public number. */
export const ApplyPaymentForm = z.object({ order: text(message('enter_order'), 40), ...formVersion, ...agreed })
export const PaymentNoteForm = z.object({ note, ...formVersion, ...agreed })

/** Possible decisions on an event of the inbox. */
export const PAYMENT_DECISIONS = ['apply', 'refunded', 'ignore'] as const
export type PaymentDecision = (typeof PAYMENT_DECISIONS)[number]

/**
 * What a decision would do to the order: `delivers` addresses for days, `renews` by days, `revives` an expired order
 * for days, `shortens` by days, `ends` the lease, or `nothing`.
 */
export const DecisionPlan = z.object({
  version: z.string(),
  /** What is applied, ignored or recorded as refunded: one sum for each currency, or none if it is not known. */
  money: z.array(z.object({ amount: Money, currency: z.string() })),
  /** The order's public number; null if none is affected. */
  order: z.string().nullable(),
  does: z.enum(['delivers', 'renews', 'revives', 'shortens', 'ends', 'nothing']),
  /** Addresses that are delivered or stop working. */
  proxies: z.number(),
  days: z.number(),
  /** The order's new end. */
  until: Time.nullable()
})
export type DecisionPlan = z.infer<typeof DecisionPlan>

const P = '/api/payments/inbox'

export const payments = {
  inbox: route('GET', `${P}/`, {
    summary: 'Payment events from the platform, with their outcomes',
    access: 'admin',
    permission: 'payments.view',
    query: listQuery({
      sort: ['id'],
      filters: {
        outcome: z.enum(EVENT_OUTCOMES).optional(),
        unresolved: z.enum(['1', '0']).optional(),
        /** Unhandled events of all topics older than an hour, not only about money. */
        late: z.enum(['1']).optional()
      }
    }),
    reply: page(InboxEntry)
  }),
  inboxEntry: route('GET', `${P}/:id/`, {
    summary: 'One payment event, with the lines of the platform order and what was missing',
    access: 'admin',
    permission: 'payments.view',
    params: IdParams,
    reply: InboxDetail
  }),
  ofUser: route('GET', '/api/users/u/:id/payments/', {
    summary: "Payments of a user's orders",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    query: listQuery({ sort: ['id'] }),
    reply: page(Payment)
  }),
  ofOrder: route('GET', '/api/orders/order_list/:id/payments/', {
    summary: 'Payments and refunds of an order',
    access: 'admin',
    permission: 'payments.view',
    params: IdParams,
    query: listQuery({ sort: ['id'] }),
    reply: page(OrderPayment)
  }),
  plan: route('GET', `${P}/:id/plan/`, {
    summary: 'Preview a decision about this payment; refused where the decision would be',
    access: 'admin',
    permission: 'payments.change',
    params: IdParams,
    query: z.object({ action: z.enum(PAYMENT_DECISIONS), order: z.string().trim().max(40).optional() }),
    reply: DecisionPlan
  }),
  apply: route('POST', `${P}/:id/apply/`, {
    summary: 'Apply this payment to an order, as its purchase or a renewal',
    access: 'admin',
    permission: 'payments.change',
    params: IdParams,
    body: ApplyPaymentForm,
    reply: Done
  }),
  markRefunded: route('POST', `${P}/:id/refunded/`, {
    summary: 'Mark this payment as refunded',
    access: 'admin',
    permission: 'payments.change',
    params: IdParams,
    body: PaymentNoteForm,
    reply: Done
  }),
  refundPlan: route('GET', `${P}/:id/refund/`, {
    summary: "Preview a refund of this event's payment",
    access: 'admin',
    permission: 'payments.change',
    params: IdParams,
    query: RefundForm.pick({ amount: true }),
    reply: RefundPlan
  }),
  refund: route('POST', `${P}/:id/refund/`, {
    summary: "Refund this event's payment on the platform, in full or in part",
    access: 'admin',
    permission: 'payments.change',
    needsConfirmation: LARGE_REFUND,
    params: IdParams,
    body: RefundForm.pick({ amount: true }).extend({ version: RefundPlan.shape.version }),
    reply: z.object({ amount: Money, platform_order: z.string(), by_hand: RefundPlan.shape.by_hand })
  }),
  ignore: route('POST', `${P}/:id/ignore/`, {
    summary: 'Ignore this event, with a reason',
    access: 'admin',
    permission: 'payments.change',
    params: IdParams,
    body: PaymentNoteForm,
    reply: Done
  })
}
