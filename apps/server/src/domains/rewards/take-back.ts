import { and, eq, inArray, isNull, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { changeBalance, lockBalance } from '../accounts/index.ts'
import { grantPoints } from './grant.ts'
import {
  type Earning,
  type Kept,
  type Money,
  type Take,
  earningsOf,
  pointsToRestore,
  originalPoints,
  standingPoints,
  sumOf,
  targetPoints
} from './restored-points.ts'
import { pointRecords } from './tables.ts'
import { takeCoins } from './take-coins.ts'
import { grantCoins, takeMillionths } from './whole-points.ts'

/**
 * Takes back what a payment earned, once: level points as far as decay has left them, and coins, including pending ones
 * (`takeCoins`). Missing coins are owed and kept from the next earnings. The caller has locked the earners
 * (`lockEarners`).
 * @param payment the platform's id of the refunded order
 */
export async function takeBackForPayment(unit: Unit, payment: string): Promise<void> {
  const earned = await unit.tx
    .select()
    .from(pointRecords)
    .where(
      and(
        eq(pointRecords.payment, payment),
        inArray(pointRecords.reasonCode, ['payment', 'invited_payment', 'invited']),
        isNull(pointRecords.takenBackAt)
      )
    )
    .orderBy(pointRecords.id)
  for (const record of earned) await takeBack(unit, record, 0)
}

/**
 * After a partial refund, takes back what the kept part does not earn. A repeat takes nothing more. The caller has
 * locked the earners.
 */
export async function takeBackPart(unit: Unit, payment: string, kept: Kept): Promise<void> {
  for (const records of await earningsOf(unit.tx, payment)) {
    let above = standingPoints(records) - targetPoints(records, kept)
    for (const record of records.toReversed()) {
      const standing = standingPoints([record])
      const part = Math.min(standing, above)
      if (part <= 0) continue
      await takeBack(unit, record, standing - part)
      above -= part
    }
  }
}

/** Takes an earning back except for `standing` points (millionths of coins), once, even if all of it is owed. */
async function takeBack(unit: Unit, record: Earning, standing: number): Promise<void> {
  const takenBack = (record.nominal ?? record.point) - standing
  await unit.tx
    .update(pointRecords)
    .set({ takenBack, takenBackAt: standing === 0 ? unit.now : null })
    .where(eq(pointRecords.id, record.id))
  if (originalPoints(record) === 0) return
  const { id, userId, reasonCode, reasonParams: params, payment } = record
  const taken = {
    userId,
    reason: reasonCode === 'payment' ? ('refund' as const) : ('refund_invited' as const),
    ...(params ? { params } : {}),
    cause: standing === 0 ? `refund:${id}` : `refund:${id}:left:${standing}`
  }
  const before = standingPoints([record])
  if (record.kind === 'level') {
    const balance = await lockBalance(unit.tx, userId)
    const left = (await leftAfterDecay(unit.tx, record, before)) - (await leftAfterDecay(unit.tx, record, standing))
    await grantPoints(unit, { ...taken, kind: 'level', point: -Math.min(left, balance?.levelPoints ?? 0) })
    return
  }
  const coins = await takeMillionths(unit, userId, before - standing)
  const owed = await takeCoins(unit, { ...taken, point: coins, ...(payment ? { first: payment } : {}) })
  if (owed > 0) await changeBalance(unit, userId, { coinsOwed: owed })
}

/**
 * How many of an earning's `standing` level points the later decays have left. Each decay takes the same share of all
 * points. Rounded up, so that the parts of several payments add up to at least what is left.
 */
async function leftAfterDecay(
  db: Executor,
  { id, userId, point, nominal }: Earning,
  standing: number
): Promise<number> {
  const { rows: decays } = await db.execute<{ before: string; after: string }>(sql`
    select before, before + point as after from (
      select id, point, reason_code, sum(point) over (order by id) - point as before
      from ${pointRecords} where user_id = ${userId} and kind = 'level'
    ) history where reason_code = 'decay' and id > ${id} and before > 0`)
  let [left, of] = [BigInt(point) * BigInt(standing), BigInt(nominal ?? point)]
  for (const { before, after } of decays) {
    left *= BigInt(after) > 0n ? BigInt(after) : 0n
    of *= BigInt(before)
  }
  return Number((left + of - 1n) / of)
}

/**
 * Restores what refunds took after their money came back: as many level points as were taken, and coins with their
 * former time. They are a new earning, so another refund takes them again. A repeat gives nothing more. Points for
 * invitations: see `rewardInvitation`. The caller has locked the earners.
 * @param kept how much of the payment counts now; by default all of it
 * @param moneys all refunds of the payment, including the reversed one: restores exactly what it took (`pointsToRestore`);
 * by default the average of all refunds
 */
export async function restoreForPayment(
  unit: Unit,
  payment: string,
  kept?: Kept,
  moneys?: readonly Money[]
): Promise<void> {
  for (const records of await earningsOf(unit.tx, payment)) {
    const last = records.at(-1)
    const nominal = targetPoints(records, kept) - standingPoints(records)
    if (!last || nominal <= 0) continue
    const { userId, kind, reasonCode: reason, reasonParams: params, maturesAt, rate } = last
    const again = {
      userId,
      rate,
      reason,
      ...(params ? { params } : {}),
      cause: `restored:${last.id}`,
      payment,
      maturesAt
    }
    if (kind === 'coins') await grantCoins(unit, { ...again, millionths: nominal })
    else {
      const point = await levelFor(unit, records, nominal, { kept, moneys })
      await grantPoints(unit, { ...again, kind, point, nominal })
    }
  }
}

/** The level points to give for restored points of earnings: fewer if a decay came before the refund. */
async function levelFor(
  { tx, now }: Unit,
  records: readonly Earning[],
  nominal: number,
  { kept, moneys }: { kept: Kept | undefined; moneys: readonly Money[] | undefined }
): Promise<number> {
  const takes = await readTakes(tx, records)
  if (moneys) {
    const full = kept ? targetPoints(records, { amount: kept.of, of: kept.of }) : (records[0]?.point ?? 0)
    return pointsToRestore({ records, takes, moneys, full }, { nominal, at: now })
  }
  const restored = records.slice(1)
  const taken = sumOf(records, ({ takenBack }) => takenBack) - sumOf(restored, originalPoints)
  const lost = sumOf(takes, one => one.lost) - sumOf(restored, ({ point }) => point)
  const again = Math.min(nominal, Math.max(0, taken))
  return nominal - again + (again === 0 ? 0 : Math.floor((lost * again) / taken))
}

/** Each time that a refund took level points: how many of the earning's points, and how many decays had left. */
async function readTakes(db: Executor, records: readonly Earning[]): Promise<Take[]> {
  const ids = records.map(({ id }) => String(id))
  const rows = await db
    .select({ id: pointRecords.id, cause: pointRecords.cause, point: pointRecords.point, at: pointRecords.createdAt })
    .from(pointRecords)
    .where(
      and(
        sql`split_part(${pointRecords.cause}, ':', 1) = 'refund'`,
        sql`split_part(${pointRecords.cause}, ':', 2) = any(${sql.param(ids)}::text[])`,
        inArray(pointRecords.userId, [...new Set(records.map(({ userId }) => userId))])
      )
    )
    .orderBy(pointRecords.id)
  const standing = new Map(records.map(({ id, point, nominal }) => [String(id), nominal ?? point]))
  return rows.map(({ id, cause, point, at }) => {
    // 'refund:<earning>' took all that stood, 'refund:<earning>:left:<points>' all but these.
    const [, earning = '', , left = '0'] = cause.split(':')
    const before = standing.get(earning) ?? 0
    standing.set(earning, Number(left))
    return { id, earning: Number(earning), taken: before - Number(left), lost: -point, at }
  })
}
