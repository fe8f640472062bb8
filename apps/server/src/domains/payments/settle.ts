import { fromCents, toCents } from '@netlet/contract'
import { orderAttribute, type PaidOrder } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueTags, type EventResult } from '../commerce/index.ts'
import { reviveDelivery, startDelivery } from '../delivery/index.ts'
import {
  failOrder,
  lockOrderByPublicId,
  markPaid,
  note,
  renewable,
  renewOrder,
  type OrderRow
} from '../orders/index.ts'
import { acceptPayment, grantPoints } from './accept.ts'
import { renewalPrice } from './renewal-price.ts'
import { payments } from './tables.ts'

type Settling = Pick<AppContext, 'secrets'>

/** How much less was paid than is due, in decimals. */
type Shortfall = { paid: string; due: string }

/**
 * Settles a payment that the platform reported, once however often it does so: the order is locked, and the platform's
 * order is unique among the payments.
 */
export async function settlePayment(unit: Unit, paid: PaidOrder, ctx: Settling): Promise<EventResult> {
  const publicId = orderAttribute(paid, 'order_id')
  const order = publicId ? await lockOrderByPublicId(unit, publicId) : undefined
  if (!order) return { outcome: 'unknown_order', detail: { order_id: publicId ?? 'missing' } }
  const renewal = orderAttribute(paid, 'renewal') === '1'
  const shortfall = missingMoney(renewal ? await renewalPrice(unit.tx, order) : order.amount, paid)
  const accepted = !shortfall && (renewal ? renewable(order, unit.now).ok : order.paidAt === null)
  const added = await unit.tx
    .insert(payments)
    .values({
      orderId: order.id,
      platformOrderId: paid.id,
      platformOrderNumber: paid.name,
      kind: renewal ? 'renewal' : 'purchase',
      amount: paid.total_price,
      discount: paid.total_discounts,
      accepted,
      createdAt: unit.now
    })
    .onConflictDoNothing({ target: payments.platformOrderId })
    .returning({ id: payments.id })
  if (added.length === 0) return { outcome: 'duplicate' }
  return renewal ? renew(unit, ctx, order, paid, shortfall) : purchase(unit, ctx, order, paid, shortfall)
}

/** How much less was paid than the price less the discount codes used; null where it is enough. */
function missingMoney(price: string, paid: PaidOrder): Shortfall | null {
  const discounts = paid.discount_codes.reduce((sum, code) => sum + cents(code.amount), 0n)
  const due = cents(price) - discounts
  const got = cents(paid.subtotal_price)
  return got < due ? { paid: fromCents(got), due: fromCents(due) } : null
}

/** The platform may write more decimals than a currency has; what is below a cent counts for nothing. */
const cents = (text: string): bigint => toCents(text.replace(/^(-?\d+\.\d{2})\d+$/, '$1'))

async function purchase(
  unit: Unit,
  ctx: Settling,
  order: OrderRow,
  paid: PaidOrder,
  shortfall: Shortfall | null
): Promise<EventResult> {
  const detail = { order_id: order.publicId, platform_order: paid.name }
  if (order.paidAt) {
    await note(unit, order.id, 'paid_again', { platform_order: paid.name, amount: paid.total_price })
    unit.publish('order', order.id, order.userId)
    return { outcome: 'paid_twice', detail }
  }
  const amount = fromCents(cents(paid.total_price))
  const payment = { amount, platformOrderId: paid.id, platformOrderNumber: paid.name }
  const paidOrder = await markPaid(unit, order, payment)
  if (shortfall) {
    // The addresses stay reserved until the reservation's end: an administrator may accept what was paid.
    await failOrder(unit, paidOrder, { code: 'underpaid', params: shortfall })
    tagFailed(unit, paid, `Too little money: paid ${shortfall.paid} of ${shortfall.due}`)
    return { outcome: 'underpaid', detail: { ...detail, ...shortfall } }
  }
  await grantPoints(unit, ctx, order, payment)
  if (await startDelivery(unit, paidOrder, acceptPayment(ctx))) return { outcome: 'settled' }
  tagFailed(unit, paid, 'Out of stock')
  return { outcome: 'too_late', detail }
}

async function renew(
  unit: Unit,
  ctx: Settling,
  order: OrderRow,
  paid: PaidOrder,
  shortfall: Shortfall | null
): Promise<EventResult> {
  const detail = { order_id: order.publicId, platform_order: paid.name }
  if (!renewable(order, unit.now).ok) return { outcome: 'renewal_too_late', detail: { ...detail, state: order.state } }
  if (shortfall) return { outcome: 'renewal_underpaid', detail: { ...detail, ...shortfall } }
  const amount = fromCents(cents(paid.total_price))
  await renewOrder(unit, order, { amount, platformOrderNumber: paid.name })
  await grantPoints(unit, ctx, order, { platformOrderId: paid.id, amount })
  await reviveDelivery(unit, order)
  enqueueTags(unit, { platformOrderId: paid.id, tags: ['delivered', 'renew'] }, 'renew')
  return { outcome: 'settled' }
}

function tagFailed(unit: Unit, paid: PaidOrder, note: string): void {
  enqueueTags(unit, { platformOrderId: paid.id, tags: ['delivery_fail'], note }, 'fail')
}
