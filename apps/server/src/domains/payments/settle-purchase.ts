import { fillIn, ORDER_FAILURES } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import type { EventResult } from '../commerce/index.ts'
import { startDelivery } from '../delivery/index.ts'
import { failOrder, markPaid, note, replacePayment, type OrderRow } from '../orders/index.ts'
import { lockEarners } from '../rewards/index.ts'
import { acceptPayment, grantPoints } from './accept.ts'
import type { OrderProblem } from './compare-payment.ts'
import { paymentOf, setAccepted, type PaymentRow } from './rows.ts'
import { detailsOf, type Settled, type Settling } from './settling.ts'
import { soldToday } from './sold-today.ts'
import { mailNotDelivered, mailPaidAgain, mailReceipt, tagFailed } from './tell.ts'

/** @param purchased.days the term that it pays for */
export async function settlePurchase(
  unit: Unit,
  ctx: Settling,
  purchased: Settled & { problem: OrderProblem | null; days: number }
): Promise<EventResult> {
  const { order, payment, problem, settings, days } = purchased
  const detail = { order_id: order.publicId, platform_order: payment.platformOrderNumber }
  if (order.paidAt) {
    // The right payment after one that fell short: the order need not wait for anybody.
    if (problem || !(await waitsForPayment(unit, order))) return paidTwice(unit, ctx, order, payment)
    await lockEarners(unit.tx, order.userId)
    const replaced = await replacePayment(unit, order, { ...detailsOf(payment), days })
    return beginDelivery(unit, ctx, replaced, payment)
  }
  const paidOrder = await markPaid(unit, order, { ...detailsOf(payment), days })
  if (problem) {
    // The addresses stay reserved until the reservation's end: an administrator may accept what was paid.
    await failOrder(unit, paidOrder, problem)
    const params = 'params' in problem ? problem.params : {}
    tagFailed(unit, payment.platformOrderId, fillIn(ORDER_FAILURES[problem.code], params))
    await mailNotDelivered(unit, ctx, order, { ...payment, why: problem.code })
    return { outcome: problem.code, detail: { ...detail, ...params } }
  }
  await setAccepted(unit, paidOrder, payment)
  await grantPoints(unit, settings, order, detailsOf(payment))
  return beginDelivery(unit, ctx, paidOrder, payment)
}

async function beginDelivery(unit: Unit, ctx: Settling, order: OrderRow, payment: PaymentRow): Promise<EventResult> {
  if (await startDelivery(unit, order, acceptPayment(ctx))) {
    await mailReceipt(unit, ctx, order, payment)
    return { outcome: 'settled' }
  }
  tagFailed(unit, payment.platformOrderId, 'Out of stock')
  await mailNotDelivered(unit, ctx, order, { ...payment, why: 'out_of_stock' })
  return { outcome: 'too_late', detail: { order_id: order.publicId, platform_order: payment.platformOrderNumber } }
}

async function paidTwice(unit: Unit, ctx: Settling, order: OrderRow, payment: PaymentRow): Promise<EventResult> {
  const platform_order = payment.platformOrderNumber
  await note(unit, order.id, 'paid_again', { platform_order, amount: payment.charged })
  unit.publish('order', order.id, order.userId)
  tagFailed(unit, payment.platformOrderId, `Order ${order.publicId} had been paid before`)
  await mailPaidAgain(unit, ctx, order, payment)
  return { outcome: 'paid_twice', detail: { order_id: order.publicId, platform_order } }
}

/** Was an order paid by something that does not count, so that another payment may take its place? */
export async function waitsForPayment(unit: Unit, { state, platformOrderId }: OrderRow): Promise<boolean> {
  const first = platformOrderId ? await paymentOf(unit.tx, platformOrderId) : undefined
  return state === 'failed' && first?.accepted === false
}

/** Days that a purchase pays for: what was promised while its addresses were held, later what is sold today. */
export async function purchaseTerm({ tx }: Unit, order: OrderRow, inTime: boolean): Promise<number> {
  return inTime ? order.proxyTime : (await soldToday(tx, order)).days
}
