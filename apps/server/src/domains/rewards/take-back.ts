import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { changeBalance, lockBalance } from '../accounts/index.ts'
import { grantPoints } from './grant.ts'
import { pointRecords } from './tables.ts'
import { takeCoins } from './take-coins.ts'

type PointRow = typeof pointRecords.$inferSelect

/**
 * Takes back what a payment earned, once: level points as far as decay has left them, and as many coins as it gave from
 * what the balance holds, pending ones too (`takeCoins`). Only the rest is owed, and kept from what is earned next. The
 * caller has locked the earners (`lockEarners`).
 * @param payment the platform's id of the order that was refunded
 */
export async function takeBackForPayment(unit: Unit, payment: string): Promise<void> {
  // Once also where nothing is left to take, and all of it is owed: then no record of it is written.
  const taken = await unit.tx
    .update(pointRecords)
    .set({ takenBackAt: unit.now })
    .where(
      and(
        eq(pointRecords.payment, payment),
        inArray(pointRecords.reasonCode, ['payment', 'invited_payment', 'invited']),
        isNull(pointRecords.takenBackAt)
      )
    )
    .returning()
  for (const record of taken.toSorted((a, b) => a.id - b.id))
    await (record.kind === 'level' ? takeLevelPoints(unit, record) : takeBackCoins(unit, record))
}

const reasonOf = ({ reasonCode, reasonParams: params }: PointRow) => ({
  reason: reasonCode === 'payment' ? ('refund' as const) : ('refund_invited' as const),
  ...(params ? { params } : {})
})

async function takeLevelPoints(unit: Unit, record: PointRow): Promise<void> {
  const balance = await lockBalance(unit.tx, record.userId)
  const point = -Math.min(await leftOf(unit.tx, record), balance?.levelPoints ?? 0)
  await grantPoints(unit, {
    ...reasonOf(record),
    userId: record.userId,
    kind: 'level',
    point,
    cause: `refund:${record.id}`
  })
}

/**
 * What the decays since have left of level points. Each took the same part of all points that there were, so the same of
 * these. Rounded up: the parts of several payments add up to no less than all that they left.
 */
async function leftOf(db: Executor, { id, userId, point }: PointRow): Promise<number> {
  const { rows: decays } = await db.execute<{ before: string; after: string }>(sql`
    select before, before + point as after from (
      select id, point, reason_code, sum(point) over (order by id) - point as before
      from ${pointRecords} where user_id = ${userId} and kind = 'level'
    ) history where reason_code = 'decay' and id > ${id} and before > 0`)
  let [left, of] = [BigInt(point), 1n]
  for (const { before, after } of decays) {
    left *= BigInt(after) > 0n ? BigInt(after) : 0n
    of *= BigInt(before)
  }
  return Number((left + of - 1n) / of)
}

async function takeBackCoins(unit: Unit, record: PointRow): Promise<void> {
  const { userId, point, payment } = record
  const cause = `refund:${record.id}`
  const owed = await takeCoins(unit, {
    ...reasonOf(record),
    userId,
    point,
    cause,
    ...(payment ? { first: payment } : {})
  })
  if (owed > 0) await changeBalance(unit, userId, { coinsOwed: owed })
}

/**
 * Gives back what was taken, once, since the money of its payment came back: level points as many as were taken, coins
 * that can be spent from when they could before. Those are earned anew, so that another refund takes them again. Points for
 * an invitation are not among them: see `rewardInvitation`. The caller has locked the earners.
 */
export async function restoreForPayment(unit: Unit, payment: string): Promise<void> {
  const { tx } = unit
  const taken = await tx
    .select()
    .from(pointRecords)
    .where(
      and(
        eq(pointRecords.payment, payment),
        inArray(pointRecords.reasonCode, ['payment', 'invited_payment']),
        isNotNull(pointRecords.takenBackAt)
      )
    )
    .orderBy(pointRecords.id)
  for (const record of taken) {
    const { userId, kind, reasonCode: reason, reasonParams: params, maturesAt } = record
    const point = kind === 'coins' ? record.point : await takenOf(tx, record)
    await grantPoints(unit, {
      userId,
      kind,
      point,
      reason,
      ...(params ? { params } : {}),
      cause: `restored:${record.id}`,
      payment,
      maturesAt
    })
  }
}

async function takenOf(db: Executor, { id }: PointRow): Promise<number> {
  const [taken] = await db
    .select({ point: pointRecords.point })
    .from(pointRecords)
    .where(eq(pointRecords.cause, `refund:${id}`))
  return -(taken?.point ?? 0)
}
