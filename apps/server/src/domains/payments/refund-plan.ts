import { fromCents, refuse, toCents, type RefundPlan } from '@netlet/contract'
import { and, desc, eq, isNull, or } from '../../infra/db/drizzle.ts'
import { isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import { openPlatform } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import type { OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { balanceOf } from './refund-reports.ts'
import { judgeRefund, type RefundDecision } from './judge-refund.ts'
import { counted, refundRowsOf, totalOf, recentRequestOf, type RefundRow } from './refund-rows.ts'
import { refusedByRequest } from './refusals.ts'
import type { PaymentRow } from './rows.ts'
import { payments } from './tables.ts'

type Reading = Pick<AppContext, 'secrets'> & { tx: Executor; now: Date }

/** What `refundOnPlatform` would refund now, and what would end with it. Changes nothing. */
export async function planRefund(
  reading: Reading,
  meant: PaymentToRefund,
  { amount }: { amount?: string | undefined }
): Promise<Result<RefundPlan>> {
  const { tx, now } = reading
  const payment = await selectPaymentToRefund(tx, meant)
  if (!payment) return refuse('order_without_payment')
  const [order = null] = payment.orderId ? await tx.select().from(orders).where(eq(orders.id, payment.orderId)) : []
  const refunds = await refundRowsOf(tx, payment.platformOrderId)
  const underway = recentRequestOf(refunds, now)
  return underway ? refusedByRequest(underway, payment) : planOf(reading, { order, payment, refunds, wanted: amount })
}

/** The plan for a person, with the part that the platform would only record: see `RefundInput`. */
export async function showRefund(
  ctx: AppContext,
  meant: PaymentToRefund,
  form: { amount?: string | undefined }
): Promise<Result<RefundPlan>> {
  const planned = await planRefund({ tx: ctx.db, now: ctx.now(), secrets: ctx.secrets }, meant, form)
  const platform = await openPlatform(ctx)
  const payment = await selectPaymentToRefund(ctx.db, meant)
  if (!planned.ok || !platform.ok || !payment) return planned
  const input = await platform.data.refundInput(payment.platformOrderId, { amount: planned.data.amount, note: '' })
  return ok({ ...planned.data, by_hand: (input.ok && input.value.byHand) || null })
}

type Planning = {
  /** Null: the payment has no order. */
  order: OrderRow | null
  payment: PaymentRow
  refunds: readonly RefundRow[]
  /** In the payment's currency; undefined: all that is left. */
  wanted: string | undefined
}

/**
 * What refunding this amount does, judged as when the platform reports it. The version covers what an administrator
 * confirms: the payment with its refunds, the amount, and what ends.
 */
export async function planOf(reading: Reading, planning: Planning): Promise<Result<RefundPlan>> {
  const { order, payment, refunds, wanted } = planning
  const { charged, currency, platformOrderNumber: platform_order } = payment
  const given = totalOf(counted(refunds), charged)
  const left = toCents(charged) - given
  const cents = wanted === undefined ? left : toCents(wanted)
  if (cents <= 0n) return refuse('order_without_payment')
  if (cents > left) {
    const most = currency === 'USD' ? `$${fromCents(left)}` : `${fromCents(left)} ${currency}`
    return fieldRefusal('amount', 'refund_too_large', { left: most })
  }
  const amount = fromCents(cents)
  const asked = { state: 'counted', amount } as const
  const facts = await balanceOf(reading, payment, order, [...refunds, asked])
  const end = endOf(judgeRefund(facts), order)
  const { ends, proxies, days } = end
  const state = `${payment.id}-${counted(refunds).filter(row => row.amount !== '0.00').length}-${fromCents(given)}`
  const version = versionOf({ state, amount, ends, proxies, days })
  return ok({ version, amount, currency, platform_order, by_hand: null, ...end })
}

type End = Pick<RefundPlan, 'ends' | 'proxies' | 'days' | 'held_until'>
const NOTHING: End = { ends: 'nothing', proxies: 0, days: 0, held_until: null }

function endOf(decision: RefundDecision | null, order: OrderRow | null): End {
  if (!order || order.state === 'refunded') return NOTHING
  const { state, deliveryNum } = order
  if (decision?.do === 'end_lease') return { ...NOTHING, ends: 'lease', proxies: state === 'expired' ? 0 : deliveryNum }
  if (decision?.do === 'await_payment') return { ...NOTHING, ends: 'failure' }
  if (decision?.do !== 'take_term') return NOTHING
  const { ends, days, heldUntil } = decision
  const proxies = ends === 'term_and_lease' ? deliveryNum : 0
  return { ends, proxies, days: ends === 'grace' ? 0 : days, held_until: isoOrNull(heldUntil) }
}

/** An order's latest payment with this platform number, or its purchase without one; or an event's payment. */
export type PaymentToRefund = { orderId: number; named?: string | undefined } | { eventId: number }

/** That payment; undefined if there is none or it was fully refunded. */
export async function selectPaymentToRefund(db: Executor, meant: PaymentToRefund): Promise<PaymentRow | undefined> {
  if ('eventId' in meant) {
    const [found] = await db
      .select({ payment: payments })
      .from(payments)
      .innerJoin(platformEvents, eq(platformEvents.platformOrderId, payments.platformOrderId))
      .where(and(eq(platformEvents.id, meant.eventId), isNull(payments.refundedAt)))
    return found?.payment
  }
  const { orderId, named } = meant
  const [found] = await db
    .select({ payment: payments })
    .from(payments)
    .innerJoin(orders, eq(orders.id, payments.orderId))
    .where(
      and(
        eq(orders.id, orderId),
        isNull(orders.deletedAt),
        isNull(payments.refundedAt),
        named
          ? or(eq(payments.platformOrderNumber, named), eq(payments.platformOrderId, named))
          : eq(payments.platformOrderId, orders.platformOrderId)
      )
    )
    .orderBy(desc(payments.id))
    .limit(1)
  return found?.payment
}
