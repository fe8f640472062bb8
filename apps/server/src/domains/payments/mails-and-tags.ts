import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { enqueueTags } from '../commerce/index.ts'
import { ruleTexts } from '../inventory/index.ts'
import { enqueueMail, type RefundEffect, type WhyNotDelivered } from '../mail/index.ts'
import { isOver, isServed, orderMail, rulesIn, type OrderRow } from '../orders/index.ts'
import { chargedOf } from './paid-order.ts'
import { partsOf, refundRowsOf, type RefundRow } from './refund-rows.ts'

export type Mailing = Pick<AppContext, 'config'>
export type MailedPayment = { platformOrderId: string; platformOrderNumber: string; charged: string; currency: string }

/** Notes on the platform's order that nothing was delivered, and why. */
export function tagFailed(unit: Unit, platformOrderId: string, note: string): void {
  enqueueTags(unit, { platformOrderId, tags: ['delivery_fail'], note }, 'fail')
}

/** Notes on the platform's order what happened to its money later: 'Ignored: …'. */
export function tagOutcome(unit: Unit, platformOrderId: string, tag: string, note: string): void {
  enqueueTags(unit, { platformOrderId, tags: [tag], note }, tag)
}

type Disputed = { payment: MailedPayment; order: OrderRow | null }

/** The bank gives the shop a few days to respond, and nothing else reminds an operator. */
export async function noticeDispute(unit: Unit, { payment, order }: Disputed, row: RefundRow): Promise<void> {
  const money = row.foreignAmount ?? `${row.amount ?? payment.charged} ${payment.currency}`
  const params = { payment: payment.platformOrderNumber, money, order: order?.publicId ?? '–' }
  await notifyAdmins(unit, { words: 'dispute', params, key: row.key, cause: 'dispute' })
}

/** The first mail about a payment. Sends one more for each part that was refunded before. */
async function firstMail(unit: Unit, ctx: Mailing, order: OrderRow, payment: MailedPayment) {
  for (const { key, amount, isDispute } of partsOf(await refundRowsOf(unit.tx, payment.platformOrderId))) {
    await mailRefunded(unit, ctx, order, payment, { ended: 'part', disputed: isDispute, amount, key })
  }
  return paymentMail(unit, ctx, order, payment)
}

async function paymentMail(unit: Unit, { config }: Mailing, order: OrderRow, payment: MailedPayment) {
  const mail = await orderMail(unit.tx, order.id)
  if (!mail) return null
  return {
    ...mail,
    data: {
      ...mail.data,
      platform_order: payment.platformOrderNumber,
      amount: `${payment.charged} ${payment.currency}`,
      dashboard_url: `${config.publicUrl}/dashboard/index/proxies`
    }
  }
}

export async function mailReceipt(
  unit: Unit,
  ctx: Mailing,
  order: OrderRow,
  { paidAt, ...payment }: MailedPayment & { paidAt: Date }
): Promise<void> {
  const mail = await firstMail(unit, ctx, order, payment)
  if (!mail) return
  const texts = await ruleTexts(unit.tx)
  enqueueMail(unit, {
    ...mail,
    data: {
      ...mail.data,
      proxies: order.quantity,
      rules: rulesIn(mail.language, order.rules, texts).join(', '),
      paid_at: iso(paidAt)
    },
    template: 'payment-received',
    key: `receipt:${payment.platformOrderId}`
  })
}

/** Tells the payer of an order without an account that nothing is delivered. Only the event has the address. */
export function mailPayer(unit: Unit, paid: PaidOrder): void {
  const to = paid.email ?? paid.contact_email ?? paid.customer?.email
  if (!to) return
  enqueueMail(unit, {
    to,
    template: 'payment-without-account',
    data: { at: iso(unit.now), platform_order: paid.name, amount: `${chargedOf(paid)} ${paid.currency}` },
    key: `payment-without-account:${paid.id}`
  })
}

/** @param expiresAt the order's new end; null if its term starts with the delivery. `days`: the days that were added. `changed`: how many of its addresses are new */
export async function mailRenewal(
  unit: Unit,
  ctx: Mailing,
  order: OrderRow,
  { expiresAt, days, changed, ...payment }: MailedPayment & { days: number; changed: number; expiresAt: Date | null }
): Promise<void> {
  const mail = await firstMail(unit, ctx, order, payment)
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    data: { ...mail.data, days, changed, expires_at: isoOrNull(expiresAt) },
    template: 'renewal-confirmed',
    key: `renewed:${payment.platformOrderId}`
  })
}

type Unsettled = { template: 'payment-not-delivered' | 'payment-not-renewed'; why: WhyNotDelivered }

/** Tells the customer that a payment settled nothing. `payment-again`: it is the second one, and will be refunded. */
export async function mailUnsettled(
  unit: Unit,
  ctx: Mailing,
  { order, payment }: { order: OrderRow; payment: MailedPayment },
  result: Unsettled | { template: 'payment-again' }
): Promise<void> {
  const mail = await firstMail(unit, ctx, order, payment)
  if (!mail) return
  const sent = { ...mail, key: `not-delivered:${payment.platformOrderId}` }
  const data = { ...mail.data, live: isServed(order.state) && !isOver(order, unit.now) }
  if (result.template === 'payment-again') enqueueMail(unit, { ...sent, template: result.template, data })
  else enqueueMail(unit, { ...sent, template: result.template, data: { ...data, why: result.why } })
}

type Refunded = { ended: RefundEffect; disputed: boolean; byHand?: string | undefined; amount: string; key: string }

/**
 * @param refunded.ended whether the order ended. 'undelivered': it ended and never had proxies. 'unpaid': this payment
 *   never counted, and the order waits for another. 'uncounted': it never counted, and the order is unchanged. 'part': a
 *   part was refunded, and the order goes on
 * @param refunded.byHand '15.40 GBP': what the shop sends by itself, because the platform only records it
 * @param refunded.amount what went back now, in the payment's currency. `key`: the refund's
 */
export async function mailRefunded(
  unit: Unit,
  ctx: Mailing,
  order: OrderRow,
  payment: MailedPayment,
  { ended, disputed, byHand, amount, key }: Refunded
): Promise<void> {
  const mail = await paymentMail(unit, ctx, order, { ...payment, charged: amount })
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    data: { ...mail.data, ended, disputed, ...(byHand ? { byHand } : {}) },
    template: 'payment-refunded',
    // One mail for each full refund: a won dispute brings the money back, and it can be refunded again.
    key: ended === 'part' ? `refunded-part:${key}` : `refunded:${payment.platformOrderId}:${iso(unit.now)}`
  })
}
