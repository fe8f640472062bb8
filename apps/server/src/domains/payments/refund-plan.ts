import { refuse, type RefundPlan } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import { isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import { termOf } from '../catalog/index.ts'
import { endsTakenBack } from '../delivery/index.ts'
import { graceAfter, heldUntil, termWithout, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { readSettings } from '../settings/index.ts'
import { refusedByForeign } from './foreign-amount.ts'
import { refusedByRefund } from './refund-underway.ts'
import { meantPayment, refundable } from './refundable.ts'
import { paidDays } from './refunds.ts'
import type { PaymentRow } from './rows.ts'
import { payments } from './tables.ts'

type Reading = Pick<AppContext, 'secrets'> & { db: Executor; now: Date }

/** What `refundOnPlatform` would give back of an order's payment now, and what would end with that. Changes nothing. */
export async function planRefund(
  reading: Reading,
  orderId: number,
  { amount, platform_order }: { amount?: string | undefined; platform_order?: string | undefined }
): Promise<Result<RefundPlan>> {
  const { db: tx, now } = reading
  const [order] = await tx
    .select()
    .from(orders)
    .where(and(eq(orders.id, orderId), isNull(orders.deletedAt)))
  if (!order) return refuse('not_found')
  const meant = await meantPayment({ tx }, orderId, platform_order)
  const [payment] = meant ? await tx.select().from(payments).where(eq(payments.id, meant.id)) : []
  if (!payment) return refuse('order_without_payment')
  const refused = refusedByRefund(payment, now) ?? (await refusedByForeign(tx, payment))
  if (refused) return refused
  const planned = await planOf(reading, { order, payment, amount })
  return planned.ok ? ok(planned.data.plan) : planned
}

type Planning = { order: OrderRow; payment: PaymentRow; amount: string | undefined }

/**
 * What giving back so much of a payment would do, or all that is left of it. The version is of what somebody agrees to: the
 * payment with its refunds, the amount, and what ends.
 * @returns with it the key of `refundable`
 */
export async function planOf(
  { db: tx, now, secrets }: Reading,
  { order, payment, amount: wanted }: Planning
): Promise<Result<{ plan: RefundPlan; key: string }>> {
  const found = await refundable(tx, payment, wanted)
  if (!found.ok) return found
  const { state, key, amount, isAllThatIsLeft } = found.data
  const isPurchase = payment.kind === 'purchase' && order.platformOrderId === payment.platformOrderId
  const counts = isAllThatIsLeft && payment.accepted && order.state !== 'refunded'
  const { grace_hours: graceHours } = await readSettings(tx, secrets)
  const end: End = !counts
    ? NOTHING
    : isPurchase
      ? { ...NOTHING, ends: 'lease', proxies: order.state === 'expired' ? 0 : order.deliveryNum }
      : payment.kind === 'renewal'
        ? endOfRenewal(order, await renewalOf(tx, order, payment, graceHours), now)
        : NOTHING
  const { ends, proxies, days } = end
  const version = versionOf({ state, amount, ends, proxies, days })
  const { currency, platformOrderNumber: platform_order } = payment
  return ok({ key, plan: { version, amount, currency, platform_order, ...end } })
}

type End = Pick<RefundPlan, 'ends' | 'proxies' | 'days' | 'held_until'>
const NOTHING: End = { ends: 'nothing', proxies: 0, days: 0, held_until: null }

const renewalOf = async (db: Executor, order: OrderRow, { id, days }: PaymentRow, graceHours: number) => ({
  days: days ?? order.proxyTime,
  paidDays: await paidDays(db, order, id),
  graceHours,
  term: await termOf(db, order.variantId)
})

/** What is taken off by the refund of a renewal, and whether the order ends with that, as the refund itself computes it. */
function endOfRenewal(order: OrderRow, renewal: Awaited<ReturnType<typeof renewalOf>>, now: Date): End {
  const { taken: days, expiredAt, graceUntil } = termWithout(order, renewal, now)
  if (expiredAt && endsTakenBack({ ...order, expiredAt }, now)) {
    const grace = graceAfter(expiredAt, renewal.graceHours, now)
    const held = heldUntil({ ...order, expiredAt }, grace, renewal.term, now)
    return { ends: 'term_and_lease', proxies: order.deliveryNum, days, held_until: isoOrNull(held) }
  }
  if (graceUntil?.getTime() !== order.graceUntil?.getTime())
    return { ...NOTHING, ends: 'grace', held_until: isoOrNull(graceUntil && graceUntil > now ? graceUntil : null) }
  return days > 0 ? { ...NOTHING, ends: 'term', days } : NOTHING
}
