import { refuse } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { ShopifyFailure } from '../../integrations/shopify/index.ts'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { lockOrder, note } from '../orders/index.ts'
import { refusedByForeign } from './foreign-amount.ts'
import { endFailed, refusedByFormer } from './former-refund.ts'
import { NO_REFUND, refusedByApplication, refusedByRefund } from './refund-underway.ts'
import { planOf } from './refund-plan.ts'
import { meantPayment } from './refundable.ts'
import type { PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

export type RefundAsked = {
  /** Without it: all that is left. */
  amount?: string | undefined
  /** Which payment of the order: its purchase without it. */
  platform_order?: string | undefined
  /** Of the plan that somebody has said yes to: where it says something else by now it must be looked at again. */
  version?: string | undefined
}
type Started = { amount: string; platform_order: string }

/**
 * Has the platform give money of an order's payment back, all that is left of it or a part. What follows from it here
 * follows from the platform's own report. Refused with the platform's words where it refuses.
 */
export async function refundOnPlatform(
  ctx: AppContext,
  by: UserActor,
  orderId: number,
  form: RefundAsked
): Promise<Result<Started>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const former = await refusedByFormer(ctx, by, { platform: platform.data, orderId, named: form.platform_order })
  if (former) return former
  const asked = await command(ctx, by, unit => request(unit, ctx, { by, orderId, form }))
  if (!asked.ok) return asked
  const { payment, amount, key } = asked.data
  const refunded = await platform.data.refund(payment.platformOrderId, {
    amount,
    // The platform makes the same refund of the same state once, also where we did not hear its answer.
    key: `netlet-${key}-${amount}`,
    note: `Refund by ${by.username}`
  })
  const answered = refunded.ok ? refunded.value : null
  if (refunded.ok || !NOT_MADE.has(refunded.reason))
    await command(ctx, by, unit => noteAnswer(unit, payment.id, answered))
  // The answer to a request of before, which was not heard then: all that it was asked for may have failed since.
  if (
    payment.refundRequestedAt &&
    answered &&
    (await endFailed(ctx, by, { platform: platform.data, payment, refundId: answered }))
  )
    return refundOnPlatform(ctx, by, orderId, form)
  if (refunded.ok) return ok({ amount, platform_order: payment.platformOrderNumber })
  if (NOT_MADE.has(refunded.reason)) {
    await command(ctx, by, unit => endRequest(unit, payment.id))
    return platformRefusal(refunded)
  }
  // Nobody knows what became of a call without a whole answer: it stays under way until the platform reports it, or for a time.
  return refuse('refund_unknown', { params: { message: refunded.message } })
}

/** Failures after which the platform has certainly given nothing back. */
const NOT_MADE: ReadonlySet<ShopifyFailure['reason']> = new Set([
  'not_configured',
  'unauthorized',
  'throttled',
  'rejected',
  'not_found'
])

type Request = { by: UserActor; orderId: number; form: RefundAsked }

async function request(
  unit: Unit,
  ctx: Pick<AppContext, 'secrets'>,
  { by: { username: refundRequestedBy }, orderId, form }: Request
): Promise<Result<{ payment: PaymentRow; amount: string; key: string }>> {
  const { tx, now } = unit
  const { platform_order, version } = form
  const meant = await meantPayment(unit, orderId, platform_order)
  // Whatever else is done with the payment's money comes before or after this, never between.
  if (meant) await lock(tx, 'platformOrder', meant.platformOrderId)
  const order = await lockOrder(unit, orderId)
  if (!order || order.deletedAt) return refuse('not_found')
  const [payment] = meant
    ? await tx
        .select()
        .from(payments)
        .where(and(eq(payments.id, meant.id), eq(payments.orderId, orderId), isNull(payments.refundedAt)))
        .for('update')
    : []
  if (!payment) return refuse('order_without_payment')
  // Money that is known to be gone, nobody knows how much, must not be given back a second time.
  const running = refusedByRefund(payment, now) ?? (await refusedByForeign(tx, payment))
  if (running) return running
  const applied = await refusedByApplication(unit, payment, refundRequestedBy)
  if (applied) return applied
  // Somebody has asked for the delivery of what this payment pays for.
  if ((!payment.accepted || order.state === 'failed') && order.task === 'deliver') return refuse('order_busy')
  const planned = await planOf({ db: tx, now, secrets: ctx.secrets }, { order, payment, amount: form.amount })
  if (!planned.ok) return planned
  const { key, plan } = planned.data
  if (version !== undefined && version !== plan.version) return refuse('stale')
  await tx
    .update(payments)
    .set({ ...NO_REFUND, refundRequestedAt: now, refundRequestedBy })
    .where(eq(payments.id, payment.id))
  const detail = { platform_order: payment.platformOrderNumber, amount: plan.amount }
  await note(unit, order.id, 'refund_requested', detail)
  unit.audit('order.refund', order.id, { after: detail })
  return ok({ payment, amount: plan.amount, key })
}

const endRequest = ({ tx }: Unit, paymentId: number) =>
  tx.update(payments).set(NO_REFUND).where(eq(payments.id, paymentId))

/**
 * By which id the platform will report the refund. Where it was reported before, by a process that could not wait for this, it
 * is under way no longer.
 * @param refundId null: the answer was cut off, or names none
 */
async function noteAnswer(unit: Unit, paymentId: number, refundId: string | null): Promise<void> {
  const { tx } = unit
  const [payment] = await tx.select().from(payments).where(eq(payments.id, paymentId)).for('update')
  if (!payment?.refundRequestedAt) return
  const key = eq(paymentRefunds.key, `refund:${refundId}`)
  const isReported = refundId !== null && (await tx.$count(paymentRefunds, key)) > 0
  const answer = isReported ? NO_REFUND : { refundId, refundUnanswered: refundId === null }
  await tx.update(payments).set(answer).where(eq(payments.id, paymentId))
}
