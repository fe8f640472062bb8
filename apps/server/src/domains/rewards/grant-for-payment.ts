import type { Settings } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { users } from '../accounts/tables.ts'
import { grantPoints } from './grant.ts'
import { wholePoints } from './whole-points.ts'

/**
 * Takes the users that a payment's points go to, in the order in which they are granted. For who leases addresses before
 * the points are due: users come before the inventory.
 */
export async function lockEarners(tx: Executor, buyerId: number): Promise<void> {
  const lock = (id: number) =>
    tx.select({ invitedBy: users.invitedBy }).from(users).where(eq(users.id, id)).for('no key update')
  const [buyer] = await lock(buyerId)
  if (buyer?.invitedBy) await lock(buyer.invitedBy)
}

/**
 * What a payment earns: level points for the buyer, and coins for whoever invited the buyer. Rounded down to whole
 * points; once for a cause, however often it is asked for. Call it in the transaction that settles the payment.
 * @param amount what was paid: '12.30'
 * @param causeKey names the payment, such as 'payment:5012'
 */
export async function grantForPayment(
  { tx, now }: Unit,
  payment: {
    orderId: number
    userId: number
    amount: string
    settings: Pick<Settings, 'billing_rate' | 'invite_rebate_rate'>
    causeKey: string
  }
): Promise<void> {
  const { userId, amount, settings, causeKey } = payment
  const [buyer] = await tx
    .select({ username: users.username, invitedBy: users.invitedBy })
    .from(users)
    .where(eq(users.id, userId))
  if (!buyer) return
  await grantPoints(tx, {
    userId,
    kind: 'level',
    point: wholePoints(amount, settings.billing_rate),
    reason: `Payment of order ${payment.orderId}`,
    cause: `${causeKey}:level`,
    now
  })
  if (buyer.invitedBy === null) return
  await grantPoints(tx, {
    userId: buyer.invitedBy,
    kind: 'coins',
    point: wholePoints(amount, settings.invite_rebate_rate),
    reason: `Payment by ${buyer.username}, whom you invited`,
    cause: `${causeKey}:coins`,
    now
  })
}
