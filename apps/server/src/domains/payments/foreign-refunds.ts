import { and, asc, eq, isNotNull, like, lte, not, notExists, or, sql, type SQL } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { EventResult } from '../commerce/index.ts'
import { lockOrder } from '../orders/index.ts'
import { holdsPayment } from './foreign-amount.ts'
import { readForeignRefundsQueue } from './queues.ts'
import { VOID_AFTER } from './refund-differences.ts'
import { isRequested } from './refund-underway.ts'
import { paymentOf } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

/**
 * Money that went back, and of which the platform told in the buyer's currency. Nobody can say how much that is in the
 * payment's, so it counts for nothing yet and holds the payment, whether that is known already or comes later.
 */
type Foreign = { platformOrderId: string; key: string; money: string }

export const foreignKey = (refundId: string): string => `foreign:${refundId}`

/** Writes it down under the lock of the platform's order. @returns false where it is known already */
export async function addForeign({ tx, now }: Unit, { platformOrderId, key, money }: Foreign): Promise<boolean> {
  const added = await tx
    .insert(paymentRefunds)
    .values({ key, platformOrderId, amount: '0.00', foreignAmount: money, createdAt: now })
    .onConflictDoNothing({ target: paymentRefunds.key })
    .returning({ id: paymentRefunds.id })
  return added.length > 0
}

/**
 * A refund in the buyer's currency: the platform is asked at once how much it is in the shop's (`readForeignRefunds`), also
 * where all of the payment is given back already, since that may come back. Whoever asked for it in the console has decided
 * about it.
 */
export async function noteForeignRefund(
  unit: Unit,
  { platformOrderId, refundId, money }: { platformOrderId: string; refundId: string; money: string }
): Promise<EventResult> {
  const { tx } = unit
  const { payment, about, detail } = await subjectOf(unit, platformOrderId)
  const known = await tx.$count(paymentRefunds, eq(paymentRefunds.key, `refund:${refundId}`))
  const key = foreignKey(refundId)
  if (known > 0 || !(await addForeign(unit, { platformOrderId, key, money }))) return { outcome: 'duplicate', about }
  askForRefunds(unit, platformOrderId)
  const isAsked = payment !== undefined && (await isRequested(unit, payment, { refundId }))
  const by = isAsked ? payment.refundRequestedBy : null
  return {
    outcome: 'foreign_refund',
    detail: { ...detail, amount: money, key },
    about,
    isMailed: false,
    ...(by === null ? {} : { resolved: { resolution: 'refunded', by } })
  }
}

/** What an event about a platform's order names: its payment and its order, which is locked. */
export async function subjectOf(unit: Unit, platformOrderId: string) {
  const payment = await paymentOf(unit.tx, platformOrderId)
  const order = payment?.orderId ? await lockOrder(unit, payment.orderId) : undefined
  const name = payment?.platformOrderNumber ?? platformOrderId
  return {
    payment,
    about: { platformOrderId, platformOrderName: name, orderPublicId: order?.publicId ?? null },
    detail: { order_id: order?.publicId ?? 'unknown', platform_order: name }
  }
}

/** Has the platform asked, once however often this is called before it answers, what it gave back of an order. */
export const askForRefunds = (unit: Unit, platformOrderId: string): void =>
  unit.jobs.send(readForeignRefundsQueue, { platformOrderId }, { key: platformOrderId })

/**
 * The amount of a foreign refund is known by now: the row of that amount stands for it, unless somebody decided that it is all.
 * @returns whether an administrator had ignored it: it counts after all
 */
export async function dropForeign(unit: Unit, platformOrderId: string, refundId: string): Promise<boolean> {
  const [dropped] = await unit.tx
    .delete(paymentRefunds)
    .where(and(eq(paymentRefunds.key, foreignKey(refundId)), isNotNull(paymentRefunds.amount)))
    .returning({ foreignAmount: paymentRefunds.foreignAmount, reversedAt: paymentRefunds.reversedAt })
  if (!dropped) return false
  askForRefunds(unit, platformOrderId)
  return dropped.foreignAmount === null && dropped.reversedAt === null
}

/** It holds nothing from now on, and counts for nothing: an administrator decided so, or the payment is none of ours. */
export async function releaseForeign(
  { tx }: Unit,
  which: { key: string } | { platformOrderId: string }
): Promise<void> {
  const { key, platformOrderId } = paymentRefunds
  const meant = 'key' in which ? eq(key, which.key) : eq(platformOrderId, which.platformOrderId)
  await tx.update(paymentRefunds).set({ foreignAmount: null }).where(and(meant, holdsPayment))
}

/**
 * An administrator decided that it is all of the payment's money: it counts as that from now on, under its own name, so that
 * a dispute which is won takes it back. @returns false where it holds nothing any more
 */
export async function decideAsAll({ tx, now }: Unit, key: string): Promise<boolean> {
  const decided = await tx
    .update(paymentRefunds)
    .set({ amount: null, foreignAmount: null, createdAt: now })
    .where(and(eq(paymentRefunds.key, key), holdsPayment))
    .returning({ id: paymentRefunds.id })
  return decided.length > 0
}

/** The platform made no refund after all: nothing of it counts. */
export async function voidForeign({ tx, now }: Unit, key: string): Promise<void> {
  const ended = { foreignAmount: null, reversedAt: now }
  await tx
    .update(paymentRefunds)
    .set(ended)
    .where(and(eq(paymentRefunds.key, key), holdsPayment))
}

/** Does the platform say, in its list of refunds or by its status, what became of the money under such a key? */
export const isListed = (key: string): boolean => /^(?:refund|reported):/.test(key)

const isDispute = like(paymentRefunds.key, 'dispute:%')
/** A refund that was told for so long that what the platform says of it is believed. */
const isSettledRefund = (now: Date) =>
  and(not(isDispute), lte(paymentRefunds.createdAt, new Date(now.getTime() - VOID_AFTER)))

/**
 * What the platform has yet to be asked of: refunds whose amount is not known, disputes that were won, and each refund once
 * after it was told. The oldest first. Where all of a payment is given back it changes nothing how much that was, until a
 * dispute is won; a refund that gave it back may have failed.
 */
export const unreadRefunds = (db: Executor, now: Date) => {
  const isBack = db
    .select({ one: sql`1` })
    .from(payments)
    .where(and(eq(payments.platformOrderId, paymentRefunds.platformOrderId), isNotNull(payments.refundedAt)))
  const isUnknown = and(holdsPayment, like(paymentRefunds.key, 'foreign:%'))
  return db
    .select()
    .from(paymentRefunds)
    .where(
      or(
        and(paymentRefunds.awaitsDecision, isSettledRefund(now)),
        and(or(and(paymentRefunds.awaitsDecision, isDispute), isUnknown), notExists(isBack))
      )
    )
    .orderBy(asc(paymentRefunds.id))
}

/** Refunds of a platform order whose amount is not known, the oldest first. */
export const unknownRefunds = async (db: Executor, platformOrderId: string) =>
  db
    .select()
    .from(paymentRefunds)
    .where(
      and(holdsPayment, like(paymentRefunds.key, 'foreign:%'), eq(paymentRefunds.platformOrderId, platformOrderId))
    )
    .orderBy(asc(paymentRefunds.id))

/** A dispute was won: what the platform says of its payment by now has yet to be read, also where it is away for now. */
export const awaitDecision = ({ tx }: Unit, key: string) =>
  tx.update(paymentRefunds).set({ awaitsDecision: true }).where(eq(paymentRefunds.key, key))

/** What the platform says of an order was read, and a payment whose dispute was won is decided by that. */
export const endDecisions = (unit: Unit, platformOrderId: string) => endAwaiting(unit, platformOrderId, isDispute)

/** What the platform says of an order's refunds was compared with ours, or it has no such order. */
export const endComparisons = (unit: Unit, platformOrderId: string) =>
  endAwaiting(unit, platformOrderId, isSettledRefund(unit.now))

const endAwaiting = ({ tx }: Unit, platformOrderId: string, which: SQL | undefined) =>
  tx
    .update(paymentRefunds)
    .set({ awaitsDecision: false })
    .where(and(eq(paymentRefunds.platformOrderId, platformOrderId), paymentRefunds.awaitsDecision, which))
