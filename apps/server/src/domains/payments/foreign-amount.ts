import { refuse, type Refusal } from '@netlet/contract'
import { and, asc, eq, isNotNull } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { FailedTask, OrderRow } from '../orders/index.ts'
import { paymentRefunds, type payments } from './tables.ts'

type Named = Pick<typeof payments.$inferSelect, 'platformOrderId' | 'platformOrderNumber'>

/** Nobody knows how much it is, and it did not come back. */
export const holdsPayment = isNotNull(paymentRefunds.foreignAmount)

/** '15.40 GBP, 300.00 JPY': what holds a payment; null where nothing does. */
export async function foreignAmountOf(db: Executor, platformOrderId: string): Promise<string | null> {
  const rows = await db
    .select({ amount: paymentRefunds.foreignAmount })
    .from(paymentRefunds)
    .where(and(eq(paymentRefunds.platformOrderId, platformOrderId), holdsPayment))
    .orderBy(asc(paymentRefunds.id))
  return rows.length === 0 ? null : rows.map(({ amount }) => amount).join(', ')
}

/** Says what holds a payment; null where nothing does. */
export async function refusedByForeign(
  db: Executor,
  { platformOrderId, platformOrderNumber: platform_order }: Named
): Promise<Refusal | null> {
  const amount = await foreignAmountOf(db, platformOrderId)
  return amount === null ? null : refuse('refund_amount_unknown', { params: { amount, platform_order } })
}

/** Why a delivery that was asked for earlier is not made now: its payment is held since. */
export async function whyNotDelivered({ tx }: Unit, { platformOrderId }: OrderRow): Promise<FailedTask | null> {
  const amount = platformOrderId ? await foreignAmountOf(tx, platformOrderId) : null
  return amount === null ? null : { code: 'refund_amount_unknown', params: { amount } }
}
