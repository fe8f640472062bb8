import type { Settings } from '@netlet/contract'
import { and, eq, isNull, like, or } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lockUserAndInviter } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { grantCoins } from './coin-millionths.ts'
import { grantPoints } from './grant.ts'
import { maturity } from './pending-coins.ts'
import { pointRecords } from './tables.ts'
import { coinMillionths, wholePoints } from './whole-points.ts'

/**
 * Locks the users that a payment's points go to. Call it before leasing addresses, since users are locked before the
 * inventory.
 */
export const lockEarners = (tx: Executor, buyerId: number): Promise<void> => lockUserAndInviter(tx, buyerId)

/**
 * What a payment earns: level points for the buyer, and for whoever invited the buyer coins, and level points where it is
 * the first payment. Level points are rounded down for each payment, coins for all payments together; once for a payment,
 * however often it is asked for. Call it in the command that settles the payment.
 * @param amount what was paid, and not given back: '12.30'
 * @param paymentId the platform's id of the order that was paid
 */
export async function grantForPayment(
  unit: Unit,
  earned: {
    /** The order's public number, which the points history shows. */
    orderPublicId: string
    userId: number
    amount: string
    settings: Pick<Settings, 'billing_rate' | 'invite_rebate_rate' | 'invite_level_points_per_user' | 'coins_hold_days'>
    paymentId: string
  }
): Promise<void> {
  const { userId, amount, settings, paymentId: payment } = earned
  // Two payments of one buyer at once: only one of them is the first.
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
  // A payment that brought nothing, such as a test, is no first payment.
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
 * Gives whoever invited a user the points for it, for a payment of that user that stands; once, until that payment is
 * given back. The caller has locked the earners.
 */
export async function rewardInvitation(
  unit: Unit,
  earned: { userId: number; paymentId: string; settings: Pick<Settings, 'invite_level_points_per_user'> }
): Promise<void> {
  const { userId, paymentId: payment, settings } = earned
  const invited = await invitedUser(unit.tx, userId)
  if (!invited || invited.inviterId === null) return
  if (await invitationIsRewarded(unit.tx, { inviterId: invited.inviterId, userId })) return
  // A payment that was given back, and whose money came back, earns them again.
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

/** A user, and the inviter, whose row is gone where that user was deleted and had no history. */
async function invitedUser(tx: Executor, userId: number) {
  const inviter = alias(users, 'inviter')
  const [user] = await tx
    .select({ username: users.username, inviterId: inviter.id })
    .from(users)
    .leftJoin(inviter, eq(inviter.id, users.invitedBy))
    .where(eq(users.id, userId))
  return user
}

/** Were the points for inviting this user granted, and not taken back since? */
async function invitationIsRewarded(tx: Executor, { inviterId, userId }: { inviterId: number; userId: number }) {
  const standing = and(
    eq(pointRecords.userId, inviterId),
    // Without a payment: granted at the sign-up, as it was once.
    or(eq(pointRecords.cause, `invite:${userId}`), like(pointRecords.cause, `invite:${userId}:%`)),
    isNull(pointRecords.takenBackAt)
  )
  return (await tx.$count(pointRecords, standing)) > 0
}
