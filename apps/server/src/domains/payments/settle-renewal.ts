import { fillIn, ORDER_FAILURES } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { enqueueTags, type EventResult } from '../commerce/index.ts'
import { restoreAddresses, reviveDelivery } from '../delivery/index.ts'
import { isOverWith, lockOrder, note, renewable, renewOrder, type OrderRow } from '../orders/index.ts'
import { lockEarners } from '../rewards/index.ts'
import { grantPoints } from './accept.ts'
import type { Problem } from './compare-payment.ts'
import { setAccepted, type PaymentRow } from './rows.ts'
import { detailsOf, type Settled, type Settling } from './settling.ts'
import { soldToday } from './sold-today.ts'
import { mailNotRenewed, mailRenewal, tagFailed } from './tell.ts'

/** A problem, or a time that is over, leads to the inbox: the money is held there. */
export async function settleRenewal(
  unit: Unit,
  ctx: Settling,
  { order, payment, problem, settings }: Settled & { problem: Problem | null }
): Promise<EventResult> {
  const detail = { order_id: order.publicId, platform_order: payment.platformOrderNumber }
  if (problem) {
    const params = 'params' in problem ? problem.params : {}
    await holdRenewal(unit, order, payment, { code: problem.code, ...params })
    tagFailed(unit, payment.platformOrderId, fillIn(RENEWAL_FAILURES[problem.code], params))
    await mailNotRenewed(unit, ctx, order, { ...payment, why: problem.code })
    const outcome = problem.code === 'lines_missing' ? ('renewal_lines_missing' as const) : problem.code
    return { outcome, detail: { ...detail, ...params } }
  }
  if (await renewBy(unit, ctx, { order, payment, settings })) return { outcome: 'settled' }
  await holdRenewal(unit, order, payment, { state: order.state })
  tagFailed(unit, payment.platformOrderId, `Order ${order.publicId} could not be renewed any more`)
  await mailNotRenewed(unit, ctx, order, { ...payment, why: 'renewal_too_late' })
  return { outcome: 'renewal_too_late', detail: { ...detail, state: order.state } }
}

/** What the platform's order is told where a renewal is held. */
const RENEWAL_FAILURES = { ...ORDER_FAILURES, renewal_not_sold: 'Not sold any more, or not by these lines: {what}' }

/** The days that a renewal brings at `now`; null where there is none, or where its time would be over already. */
export async function daysOfRenewal(db: Executor, order: OrderRow, now: Date): Promise<number | null> {
  if (!renewable(order, now).ok) return null
  const { days } = await soldToday(db, order)
  return isOverWith(order, days, now) ? null : days
}

/**
 * Renews a locked order by a payment, for the term that its plan is sold with today.
 * @returns false where it cannot be renewed: its time is as it was then. Which of the addresses of its grace it would keep may
 * have changed; they all go back with it
 */
export async function renewBy(
  unit: Unit,
  ctx: Settling,
  { order, payment, settings }: Omit<Settled, 'paid'>
): Promise<boolean> {
  const { platformOrderId } = payment
  const days = await daysOfRenewal(unit.tx, order, unit.now)
  if (days === null) return false
  if (order.state === 'expired') {
    // Its addresses may be gone with their server: then it is renewed where there are others, or not at all.
    await lockEarners(unit.tx, order.userId)
    if (!(await restoreAddresses(unit, order))) return false
  }
  await renewOrder(unit, order, { ...detailsOf(payment), days })
  await setAccepted(unit, order, payment, days)
  await grantPoints(unit, settings, order, detailsOf(payment))
  await reviveDelivery(unit, order)
  enqueueTags(unit, { platformOrderId, tags: ['delivered', 'renew'] }, 'renew')
  const renewed = await lockOrder(unit, order.id)
  await mailRenewal(unit, ctx, order, { ...payment, days, expiresAt: renewed?.expiredAt ?? null })
  return true
}

async function holdRenewal(unit: Unit, order: OrderRow, payment: PaymentRow, why: Record<string, string>) {
  const { platformOrderNumber: platform_order, charged: amount } = payment
  await note(unit, order.id, 'payment_held', { platform_order, amount, ...why })
  unit.publish('order', order.id, order.userId)
}
