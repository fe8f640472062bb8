import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueTags } from '../commerce/index.ts'
import { ruleTexts } from '../inventory/index.ts'
import { enqueueMail, type RefundEffect, type WhyNotDelivered } from '../mail/index.ts'
import { isOver, isServed, orderMail, rulesIn, type OrderRow } from '../orders/index.ts'
import { partsOf, refundRowsOf } from './refund-rows.ts'

export type Telling = Pick<AppContext, 'config'>
export type ToldPayment = { platformOrderId: string; platformOrderNumber: string; charged: string; currency: string }

/** Says on the platform's order that nothing was delivered for it, and why. */
export function tagFailed(unit: Unit, platformOrderId: string, note: string): void {
  enqueueTags(unit, { platformOrderId, tags: ['delivery_fail'], note }, 'fail')
}

/** Says on the platform's order what became of its money later: 'Ignored: …'. */
export function tagEnded(unit: Unit, platformOrderId: string, tag: string, note: string): void {
  enqueueTags(unit, { platformOrderId, tags: [tag], note }, tag)
}

/** What a customer is first told of a payment: beside it, once each, of the parts of it that were given back before. */
async function firstMail(unit: Unit, ctx: Telling, order: OrderRow, payment: ToldPayment) {
  for (const { key, amount, isDispute } of partsOf(await refundRowsOf(unit.tx, payment.platformOrderId))) {
    const part = { amount, key }
    await mailRefunded(unit, ctx, order, payment, { ended: 'part', disputed: isDispute, part })
  }
  return paymentMail(unit, ctx, order, payment)
}

async function paymentMail(unit: Unit, { config }: Telling, order: OrderRow, payment: ToldPayment) {
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

export async function mailReceipt(unit: Unit, ctx: Telling, order: OrderRow, payment: ToldPayment): Promise<void> {
  const mail = await firstMail(unit, ctx, order, payment)
  if (!mail) return
  const texts = await ruleTexts(unit.tx)
  enqueueMail(unit, {
    ...mail,
    data: {
      ...mail.data,
      proxies: order.quantity,
      rules: rulesIn(mail.language, order.rules, texts).join(', '),
      paid_at: iso(unit.now)
    },
    template: 'payment-received',
    key: `receipt:${payment.platformOrderId}`
  })
}

/**
 * Tells whoever paid for an order that nobody has, such as one of a deleted account, that nothing is delivered. The
 * platform's event alone knows whom to tell.
 */
export function mailPayer(unit: Unit, paid: PaidOrder): void {
  const to = paid.email ?? paid.contact_email ?? paid.customer?.email
  if (!to) return
  enqueueMail(unit, {
    to,
    template: 'payment-without-account',
    data: { at: iso(unit.now), platform_order: paid.name, amount: `${paid.total_price} ${paid.currency}` },
    key: `payment-without-account:${paid.id}`
  })
}

/** @param expiresAt when the order ends now; null where its time starts with the delivery. `days`: what was added */
export async function mailRenewal(
  unit: Unit,
  ctx: Telling,
  order: OrderRow,
  { expiresAt, days, ...payment }: ToldPayment & { days: number; expiresAt: Date | null }
): Promise<void> {
  const mail = await firstMail(unit, ctx, order, payment)
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    data: { ...mail.data, days, expires_at: isoOrNull(expiresAt) },
    template: 'renewal-confirmed',
    key: `renewed:${payment.platformOrderId}`
  })
}

export async function mailNotDelivered(
  unit: Unit,
  ctx: Telling,
  order: OrderRow,
  { why, ...payment }: ToldPayment & { why: WhyNotDelivered }
): Promise<void> {
  const mail = await firstMail(unit, ctx, order, payment)
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    data: { ...mail.data, why },
    template: 'payment-not-delivered',
    key: `not-delivered:${payment.platformOrderId}`
  })
}

export async function mailNotRenewed(
  unit: Unit,
  ctx: Telling,
  order: OrderRow,
  { why, ...payment }: ToldPayment & { why: WhyNotDelivered }
): Promise<void> {
  const mail = await firstMail(unit, ctx, order, payment)
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    data: { ...mail.data, why, live: isServed(order.state) && !isOver(order, unit.now) },
    template: 'payment-not-renewed',
    key: `not-delivered:${payment.platformOrderId}`
  })
}

/** Tells whoever paid twice that the second payment goes back. */
export async function mailPaidAgain(unit: Unit, ctx: Telling, order: OrderRow, payment: ToldPayment): Promise<void> {
  const mail = await firstMail(unit, ctx, order, payment)
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    data: { ...mail.data, live: isServed(order.state) },
    template: 'payment-again',
    key: `not-delivered:${payment.platformOrderId}`
  })
}

/**
 * @param refunded.ended whether the order ended with it; 'unpaid': it waits for another payment, since this one never
 *   counted; 'uncounted': this one never counted, and the order is as it was; 'part': it goes on, and only a part was given back
 * @param refunded.part the part's amount in the payment's currency, and the platform's own name of the refund
 */
export async function mailRefunded(
  unit: Unit,
  ctx: Telling,
  order: OrderRow,
  payment: ToldPayment,
  { ended, disputed, part }: { ended: RefundEffect; disputed: boolean; part?: { amount: string; key: string } }
): Promise<void> {
  const mail = await paymentMail(unit, ctx, order, { ...payment, charged: part?.amount ?? payment.charged })
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    data: { ...mail.data, ended, disputed },
    template: 'payment-refunded',
    // Once for each time that it is given back: a dispute that was won brings the money again.
    key: part ? `refunded-part:${part.key}` : `refunded:${payment.platformOrderId}:${iso(unit.now)}`
  })
}
