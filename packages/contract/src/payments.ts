import { z } from 'zod'
import { message } from './form-messages.ts'
import { listQuery, page } from './list.ts'
import { EVENT_OUTCOMES, PAYMENT_STATES, RESOLUTIONS } from './payment-codes.ts'
import { route } from './route.ts'
import { Done, IdParams, Money, ReasonParams, Time, formVersion, text } from './shapes.ts'

/** An event of the platform about money, and what came of it. */
export const InboxEntry = z.object({
  id: z.number(),
  received_at: Time,
  /** 'orders/paid', 'refunds/create' … */
  topic: z.string(),
  /** null: it has not been handled yet. */
  outcome: z.enum(EVENT_OUTCOMES).nullable(),
  /** The English sentence of an outcome that somebody has to look at. */
  summary: z.string().nullable(),
  /** What the outcome's sentence names. */
  params: ReasonParams,
  needs_hand: z.boolean(),
  /** '#1001'. */
  platform_order: z.string().nullable(),
  platform_order_id: z.string().nullable(),
  /** Our order: its public number and its key. */
  order: z.string().nullable(),
  order_id: z.number().nullable(),
  username: z.string().nullable(),
  kind: z.enum(['purchase', 'renewal']).nullable(),
  /** What the platform took, in `currency`. */
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
  /** What our order needs, and how much of each the platform's lines bring. */
  needed: z.array(z.object({ name: z.string(), quantity: z.number(), paid: z.number() }))
})
export type InboxDetail = z.infer<typeof InboxDetail>

const note = text(message('enter_reason'), 500)

/** The order's public number, as customers see it. */
export const ApplyPaymentForm = z.object({ order: text(message('enter_order'), 40), ...formVersion })
export const PaymentNoteForm = z.object({ note, ...formVersion })

const P = '/api/payments/inbox'

export const payments = {
  inbox: route('GET', `${P}/`, {
    summary: "The platform's events about money, with what came of each",
    access: 'admin',
    query: listQuery({
      sort: ['id'],
      filters: { outcome: z.enum(EVENT_OUTCOMES).optional(), needs_hand: z.enum(['1', '0']).optional() }
    }),
    reply: page(InboxEntry)
  }),
  inboxEntry: route('GET', `${P}/:id/`, {
    summary: 'One event with the lines of the platform’s order and what was missing',
    access: 'admin',
    params: IdParams,
    reply: InboxDetail
  }),
  apply: route('POST', `${P}/:id/apply/`, {
    summary: 'Settle this payment on an order, as if it named it: its purchase, or a renewal where it runs',
    access: 'admin',
    params: IdParams,
    body: ApplyPaymentForm,
    reply: Done
  }),
  markRefunded: route('POST', `${P}/:id/refunded/`, {
    summary: 'Note that the money of this payment was given back',
    access: 'admin',
    params: IdParams,
    body: PaymentNoteForm,
    reply: Done
  }),
  ignore: route('POST', `${P}/:id/ignore/`, {
    summary: 'Close this event without doing anything, with a reason',
    access: 'admin',
    params: IdParams,
    body: PaymentNoteForm,
    reply: Done
  })
}
