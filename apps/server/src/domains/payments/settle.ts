import { withUnit } from '../../infra/legacy-unit.ts'
import { fromCents, toCents } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { orderAttribute, PaidOrder } from '../../integrations/shopify/index.ts'
import { DAY } from '../../infra/clock.ts'
import type { Transaction } from '../../infra/db/client.ts'
import type { AppContext } from '../../infra/context.ts'
import { finishPlatformEvent, takePlatformEvent } from '../catalog/index.ts'
import { startDelivery } from '../delivery/index.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { isLive, lockOrderByKey, note, transition, type OrderRow } from '../orders/index.ts'
import { orders, payments } from '../orders/tables.ts'
import { grantForPayment } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { tagQueue } from './queues.ts'
import { renewalPrice } from './renewal-price.ts'

/**
 * Settles one recorded payment, once however often the platform reports it: the event is locked, and the platform's
 * order is unique among the payments. All that it causes happens in the same transaction, or not at all.
 */
export async function settlePayment(ctx: AppContext, eventId: string): Promise<void> {
  await ctx.db.transaction(async tx => {
    const event = await takePlatformEvent(tx, eventId)
    if (!event) return
    const paid = PaidOrder.safeParse(event.payload)
    const outcome = paid.success ? await settle(tx, ctx, paid.data) : 'unreadable: this is no paid order'
    await finishPlatformEvent(tx, eventId, outcome, ctx.now())
    if (outcome !== 'settled' && outcome !== 'known') {
      ctx.log.warn({ event: eventId, outcome }, 'payment needs a look')
      await withUnit(tx, ctx.jobs, unit =>
        notifyAdmins(unit, {
          subject: 'A payment needs your attention',
          text: `The platform reported a payment that could not simply be delivered: ${outcome}.\n\nPlatform order: ${paid.success ? paid.data.name : 'unknown'}.`,
          key: `payment:${eventId}`
        })
      )
    }
  })
}

/** @returns 'settled', 'known', or what an administrator has to look at */
async function settle(tx: Transaction, ctx: AppContext, paid: PaidOrder): Promise<string> {
  const orderKey = orderAttribute(paid, 'order_id')
  const order = orderKey ? await lockOrderByKey(tx, orderKey) : undefined
  if (!order) return `no order of ours is named (order_id ${orderKey ?? 'missing'})`
  const renewal = orderAttribute(paid, 'renewal') === '1'
  const shortfall = missingMoney(renewal ? await renewalPrice(tx, order) : order.amount, paid)
  const accepted = !shortfall && (renewal ? isLive(order.state) : order.paidAt === null)
  const added = await tx
    .insert(payments)
    .values({
      orderId: order.id,
      platformOrderId: paid.id,
      platformOrderNumber: paid.name,
      kind: renewal ? 'renewal' : 'purchase',
      amount: paid.total_price,
      discount: paid.total_discounts,
      accepted,
      createdAt: ctx.now()
    })
    .onConflictDoNothing({ target: payments.platformOrderId })
    .returning({ id: payments.id })
  if (added.length === 0) return 'known'
  if (renewal) return renew(tx, ctx, order, paid, shortfall)
  return purchase(tx, ctx, order, paid, shortfall)
}

/** How much less was paid than the price less the discount codes used; null where it is enough. */
function missingMoney(price: string, paid: PaidOrder): string | null {
  const discounts = paid.discount_codes.reduce((sum, code) => sum + cents(code.amount), 0n)
  const due = cents(price) - discounts
  const got = cents(paid.subtotal_price)
  return got < due ? `paid ${fromCents(got)} of ${fromCents(due)}` : null
}

/** The platform may write more decimals than a currency has; what is below a cent counts for nothing. */
const cents = (text: string): bigint => toCents(text.replace(/^(-?\d+\.\d{2})\d+$/, '$1'))

async function purchase(
  tx: Transaction,
  ctx: AppContext,
  order: OrderRow,
  paid: PaidOrder,
  shortfall: string | null
): Promise<string> {
  if (order.paidAt) {
    await note(tx, order.id, 'paid again', { platform_order: paid.name, amount: paid.total_price })
    return `order ${order.orderId} was paid already; refund ${paid.name}`
  }
  const now = ctx.now()
  const money = {
    payAmount: fromCents(cents(paid.total_price)),
    paidAt: now,
    expiredAt: new Date(now.getTime() + order.proxyTime * DAY),
    platformOrderId: paid.id,
    platformOrderNumber: paid.name,
    checkoutUrl: null,
    // Money that came for an order that an administrator had deleted brings it back.
    deletedAt: null
  }
  const state = await transition(tx, order, 'pay', money, { platform_order: paid.name, amount: paid.total_price })
  const paidOrder = { ...order, ...money, state }
  if (shortfall) {
    // The addresses stay reserved until the reservation's end: an administrator may accept what was paid. The time that
    // was bought does not run meanwhile.
    await transition(tx, paidOrder, 'fail', { failReason: `Too little money: ${shortfall}`, expiredAt: null })
    await failed(tx, ctx, paid, `Too little money: ${shortfall}`)
    return `order ${order.orderId}: ${shortfall}`
  }
  await withUnit(tx, ctx.jobs, async unit =>
    grantForPayment(unit, {
      orderId: order.id,
      userId: order.userId,
      amount: money.payAmount,
      settings: await readSettings(tx, ctx.secrets),
      causeKey: `payment:${paid.id}`
    })
  )
  if (await startDelivery(tx, ctx, paidOrder)) return 'settled'
  await failed(tx, ctx, paid, 'Out of stock')
  return `order ${order.orderId} was paid too late: its addresses are gone`
}

async function renew(
  tx: Transaction,
  ctx: AppContext,
  order: OrderRow,
  paid: PaidOrder,
  shortfall: string | null
): Promise<string> {
  if (!isLive(order.state)) return `order ${order.orderId} is ${order.state} and cannot be renewed; refund ${paid.name}`
  if (shortfall) return `renewal of order ${order.orderId}: ${shortfall}`
  const from = order.expiredAt ?? ctx.now()
  const expiredAt = new Date(from.getTime() + order.proxyTime * DAY)
  await tx
    .update(orders)
    .set({
      expiredAt,
      reminderSentAt: null,
      payAmount: sql`${orders.payAmount} + ${fromCents(cents(paid.total_price))}::numeric`
    })
    .where(eq(orders.id, order.id))
  await note(tx, order.id, 'renewed', { platform_order: paid.name, expired_at: expiredAt.toISOString() })
  await withUnit(tx, ctx.jobs, async unit =>
    grantForPayment(unit, {
      orderId: order.id,
      userId: order.userId,
      amount: fromCents(cents(paid.total_price)),
      settings: await readSettings(tx, ctx.secrets),
      causeKey: `payment:${paid.id}`
    })
  )
  await ctx.jobs.send(
    tx,
    tagQueue,
    { platformOrderId: paid.id, tags: ['delivered', 'renew'] },
    { key: `${paid.id}:renew` }
  )
  return 'settled'
}

async function failed(tx: Transaction, ctx: AppContext, paid: PaidOrder, why: string): Promise<void> {
  await ctx.jobs.send(
    tx,
    tagQueue,
    { platformOrderId: paid.id, tags: ['delivery_fail'], note: why },
    { key: `${paid.id}:fail` }
  )
}
