import { toCents, toMoney } from '../kit/http.ts'
import type { OrderPayment, OrderRefund, PlatformOrder, RefundPart, RefundStatus } from './state.ts'

const GATEWAY = 'bogus'
const GIFT_CARD = 'gift_card'
const BANK_DEPOSIT = 'Bank Deposit'

/** Is money of this payment sent back by the merchant, and only recorded by the platform? */
export const isManual = ({ gateway }: Pick<OrderPayment, 'gateway'>): boolean => gateway === BANK_DEPOSIT

/** An order's payments, in the platform's order. */
export const paymentsOf = (order: PlatformOrder): OrderPayment[] =>
  order.payments ?? [{ id: order.id, gateway: GATEWAY, amount: order.totalPrice }]

/** Splits a total into payments, the gift card first; undefined for a single payment by card. */
export function paidBy(
  totalPrice: string,
  { giftCard, bankDeposit = false }: { giftCard?: string | undefined; bankDeposit?: boolean | undefined },
  id: () => string
): OrderPayment[] | undefined {
  const total = toCents(totalPrice)
  const byCard = Math.min(total, toCents(giftCard ?? '0'))
  if (byCard === 0 && !bankDeposit) return undefined
  const payments = byCard > 0 ? [{ id: id(), gateway: GIFT_CARD, amount: toMoney(byCard) }] : []
  const gateway = bankDeposit ? BANK_DEPOSIT : GATEWAY
  if (byCard < total) payments.push({ id: id(), gateway, amount: toMoney(total - byCard) })
  return payments
}

export const partsOf = (order: PlatformOrder, refund: OrderRefund): RefundPart[] =>
  refund.parts ?? [{ id: refund.id, parentId: paymentsOf(order)[0]?.id ?? '', amount: refund.amount }]

export const statusOf = ({ status }: OrderRefund): RefundStatus => status ?? 'success'

/** The money of a refund that went back: nothing while it is pending. */
export const refundedBy = (refund: OrderRefund): string => (statusOf(refund) === 'success' ? refund.amount : '0.00')

/** The refunded sum of an order in cents. */
export const refundedCents = (order: PlatformOrder): number =>
  order.refunds.reduce((sum, refund) => sum + toCents(refundedBy(refund)), 0)

/** What a payment can still refund, in cents, less pending refunds. */
export function leftOf(order: PlatformOrder, payment: OrderPayment): number {
  const standing = order.refunds.filter(one => statusOf(one) !== 'failure')
  const parts = standing.flatMap(one => partsOf(order, one)).filter(({ parentId }) => parentId === payment.id)
  return parts.reduce((left, { amount }) => left - toCents(amount), toCents(payment.amount))
}

/** What all payments of an order can still refund, in cents. */
export const leftOfAll = (order: PlatformOrder): number =>
  paymentsOf(order).reduce((sum, payment) => sum + leftOf(order, payment), 0)

/** Spreads cents over an order's payments in their order, up to what each has left. */
export function spread(order: PlatformOrder, cents: number): Omit<RefundPart, 'id'>[] {
  let open = cents
  return paymentsOf(order).flatMap(payment => {
    const part = Math.min(open, leftOf(order, payment))
    open -= part
    return part > 0 ? [{ parentId: payment.id, amount: toMoney(part) }] : []
  })
}

export function financialStatus(order: PlatformOrder): 'AUTHORIZED' | 'PAID' | 'PARTIALLY_REFUNDED' | 'REFUNDED' {
  if (order.authorized) return 'AUTHORIZED'
  const cents = refundedCents(order)
  if (cents === 0) return 'PAID'
  return cents < toCents(order.totalPrice) ? 'PARTIALLY_REFUNDED' : 'REFUNDED'
}
