import type { Settings } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lockUserAndInviter } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { grantPoints } from './grant.ts'
import { wholePoints } from './whole-points.ts'

/**
 * Locks the users that a payment's points go to, in the order in which they are granted. Call it before
 * leasing addresses, since users are locked before the inventory.
 */
export const lockEarners = (tx: Executor, buyerId: number): Promise<void> => lockUserAndInviter(tx, buyerId)

/**
 * What a payment earns: level points for the buyer, and coins for whoever invited the buyer. Rounded down to whole
 * points; once for a cause, however often it is asked for. Call it in the command that settles the payment.
 * @param amount what was paid: '12.30'
 * @param causeKey names the payment, such as 'payment:5012'
 */
export async function grantForPayment(
  unit: Unit,
  payment: {
    /** The order's public number, which the points history shows. */
    orderPublicId: string
    userId: number
    amount: string
    settings: Pick<Settings, 'billing_rate' | 'invite_rebate_rate'>
    causeKey: string
  }
): Promise<void> {
  const { userId, amount, settings, causeKey } = payment
  const [buyer] = await unit.tx
    .select({ username: users.username, invitedBy: users.invitedBy })
    .from(users)
    .where(eq(users.id, userId))
  if (!buyer) return
  await grantPoints(unit, {
    userId,
    kind: 'level',
    point: wholePoints(amount, settings.billing_rate),
    reason: 'payment',
    params: { order: payment.orderPublicId },
    cause: `${causeKey}:level`
  })
  if (buyer.invitedBy === null) return
  await grantPoints(unit, {
    userId: buyer.invitedBy,
    kind: 'coins',
    point: wholePoints(amount, settings.invite_rebate_rate),
    reason: 'invited_payment',
    params: { username: buyer.username },
    cause: `${causeKey}:coins`
  })
}
