import { refuse, type Refusal } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import type { Shopify } from '../../integrations/shopify/index.ts'
import { askForRefunds } from './foreign-refunds.ts'
import { isRefundUnderway, NO_REFUND } from './refund-underway.ts'
import { meantPayment } from './refundable.ts'
import { paymentOf, type PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

type Meant = { platform: Shopify; orderId: number; named: string | undefined }

/**
 * Of a refund that was asked for and never reported the platform itself is asked. One that it has not finished keeps another
 * from being asked for; of one that failed or was not made the next is another. While the platform does not answer, what is
 * asked for is the same refund to it.
 */
export async function refusedByFormer(
  ctx: AppContext,
  by: UserActor,
  { platform, orderId, named }: Meant
): Promise<Refusal | null> {
  const meant = await meantPayment({ tx: ctx.db }, orderId, named)
  const payment = meant && (await paymentOf(ctx.db, meant.platformOrderId))
  if (!payment?.refundRequestedAt || payment.refundId === null || isRefundUnderway(payment, ctx.now())) return null
  const { refundId, platformOrderId, refundRequestedBy, platformOrderNumber: platform_order } = payment
  const fate = await platform.refundFate(refundId)
  if (!fate.ok) return null
  const params = { by: refundRequestedBy ?? '–', platform_order }
  if (fate.value === 'pending') return refuse('refund_pending', { params })
  if (fate.value === 'made') {
    await command(ctx, by, async unit => askForRefunds(unit, platformOrderId))
    return refuse('refund_uncounted', { params })
  }
  await command(ctx, by, unit => noteFailed(unit, payment, refundId))
  return null
}

/** Ends a request for a refund that the platform says to have failed. @returns whether it says so */
export async function endFailed(
  ctx: AppContext,
  by: UserActor,
  { platform, payment, refundId }: { platform: Shopify; payment: PaymentRow; refundId: string }
): Promise<boolean> {
  const fate = await platform.refundFate(refundId)
  if (!fate.ok || fate.value !== 'failed') return false
  await command(ctx, by, unit => noteFailed(unit, payment, refundId))
  return true
}

/** A refund that was never counted failed: it is known from now on, as nothing, and no longer under way. */
async function noteFailed(unit: Unit, { id, platformOrderId }: PaymentRow, refundId: string): Promise<void> {
  const { tx, now } = unit
  await lock(tx, 'platformOrder', platformOrderId)
  const [payment] = await tx.select().from(payments).where(eq(payments.id, id)).for('update')
  if (payment?.refundId !== refundId) return
  await tx
    .insert(paymentRefunds)
    .values({ key: `refund:${refundId}`, platformOrderId, amount: '0.00', createdAt: now, reversedAt: now })
    .onConflictDoNothing({ target: paymentRefunds.key })
  await tx.update(payments).set(NO_REFUND).where(eq(payments.id, id))
}
