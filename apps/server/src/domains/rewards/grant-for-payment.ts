import type { Settings } from '@netlet/contract'
import { and, eq, isNull, like, or } from '../../infra/db/drizzle.ts'
import { alias } from 'drizzle-orm/pg-core'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lockUserAndInviter } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { grantPoints } from './grant.ts'
import { pointRecords } from './tables.ts'
import { coinMillionths, grantCoins, wholePoints } from './whole-points.ts'
import { maturity } from './take-coins.ts'

/** Locks the users who earn by a payment. Call it before leasing addresses: users are locked before the inventory. */
export const lockEarners = (tx: Executor, buyerId: number): Promise<void> => lockUserAndInviter(tx, buyerId)

/**
 * Grants what a payment earns: level points for the buyer, coins for the inviter, and level points for the inviter at
 * the first payment. Level points are rounded down for each payment, coins over all payments. Idempotent for a payment.
 * Call it in the command that settles the payment.
 * @param amount what was paid and not refunded: '12.30'
 * @param paymentId the platform's id of the paid order
 */
export async function grantForPayment(
  unit: Unit,
  earned: {
    /** The order's public number, for the points history. */
    orderPublicId: string
    userId: number
    amount: string
    settings: Pick<Settings, 'billing_rate' | 'invite_rebate_rate' | 'invite_level_points_per_user' | 'coins_hold_days'>
    paymentId: string
  }
): Promise<void> {
  const { userId, amount, settings, paymentId: payment } = earned
  // Of two concurrent payments of one buyer only one is the first.
  await lockEarners(unit.tx, userId)
  const buyer = await invitedUser(unit.tx, userId)
  if (!buyer) return
  await grantPoints(unit, {
    userId,
    kind: 'level',
    point: wholePoints(amount, settings.billing_rate),
    reason: 'payment',
    params: { order: earned.orderPublicId },
    cause: `payment:${payment}:level`,
    payment,
    rate: settings.billing_rate
  })
  // A payment that brought nothing, such as a test, is not a first payment.
  if (buyer.inviterId === null || Number(amount) <= 0) return
  const params = { username: buyer.username }
  await grantCoins(unit, {
    userId: buyer.inviterId,
    millionths: coinMillionths(amount, settings.invite_rebate_rate),
    reason: 'invited_payment',
    params,
    cause: `payment:${payment}:coins`,
    payment,
    rate: settings.invite_rebate_rate,
    maturesAt: maturity(unit.now, settings)
  })
  await rewardInvitation(unit, { userId, paymentId: payment, settings })
}

/**
 * Grants the inviter's points for a user's payment, once until that payment is refunded. The caller has locked the
 * earners.
 */
export async function rewardInvitation(
  unit: Unit,
  earned: { userId: number; paymentId: string; settings: Pick<Settings, 'invite_level_points_per_user'> }
): Promise<void> {
  const { userId, paymentId: payment, settings } = earned
  const invited = await invitedUser(unit.tx, userId)
  if (!invited || invited.inviterId === null) return
  if (await invitationIsRewarded(unit.tx, { inviterId: invited.inviterId, userId })) return
  // After a refund whose money came back, the payment earns the points again.
  const cause = `invite:${userId}:${payment}`
  const before = or(eq(pointRecords.cause, cause), like(pointRecords.cause, `${cause}:%`))
  const times = await unit.tx.$count(pointRecords, and(eq(pointRecords.payment, payment), before))
  await grantPoints(unit, {
    userId: invited.inviterId,
    kind: 'level',
    point: settings.invite_level_points_per_user,
    reason: 'invited',
    params: { username: invited.username },
    cause: times === 0 ? cause : `${cause}:${times}`,
    payment,
    ...(settings.invite_level_points_per_user === 0 ? { rate: 0 } : {})
  })
}

/** A user and the inviter. The inviter's row is gone if that user was deleted without any history. */
async function invitedUser(tx: Executor, userId: number) {
  const inviter = alias(users, 'inviter')
  const [user] = await tx
    .select({ username: users.username, inviterId: inviter.id })
    .from(users)
    .leftJoin(inviter, eq(inviter.id, users.invitedBy))
    .where(eq(users.id, userId))
  return user
}

/** Has the inviter the points for this user, not taken back? */
async function invitationIsRewarded(tx: Executor, { inviterId, userId }: { inviterId: number; userId: number }) {
  const standing = and(
    eq(pointRecords.userId, inviterId),
    // Records without a payment are from the time when the sign-up earned the points.
    or(eq(pointRecords.cause, `invite:${userId}`), like(pointRecords.cause, `invite:${userId}:%`)),
    isNull(pointRecords.takenBackAt)
  )
  return (await tx.$count(pointRecords, standing)) > 0
}
