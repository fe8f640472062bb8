import { POINT_REASONS, type Params, type PointReason, fillIn } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import { type SQL, eq, sql } from '../../infra/db/drizzle.ts'
import { changeBalance, lockBalance } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { levelTagQueue, levelTagsQueue } from './queues.ts'
import { levelCodes, pointRecords } from './tables.ts'

export type Grant = {
  userId: number
  kind: 'level' | 'coins'
  /** Whole points; negative takes away. */
  point: number
  /** Why, for the points history, with the parameters of its sentence. */
  reason: PointReason
  params?: Params
  /** A unique name of the cause, such as 'invite:42': each cause is granted once. */
  cause: string
  /** The platform's order that earned it: see `takeBackForPayment`. */
  payment?: string
  /** The multiplier of the payment's amount; 0: the settings grant nothing. */
  rate?: number | null
  /** See the column. */
  nominal?: number
  /** When the coins can be spent; missing: at once. */
  maturesAt?: Date | null
}

/**
 * Changes a user's level points or coins and writes the record, in the command of the cause. Owed coins are kept from
 * earned ones, with a record of their own.
 * @returns false if the cause was granted before or gives nothing
 * @throws if the balance would become negative: the caller has locked the user and checked
 */
export async function grantPoints(unit: Unit, grant: Grant): Promise<boolean> {
  const { userId, kind, point, cause } = grant
  // A record of 0 points is written if the settings granted nothing, so that later settings grant nothing either, and
  // if only millionths of a coin were earned.
  if (point === 0 && grant.rate !== 0 && !(kind === 'coins' && grant.nominal)) return false
  if (!(await writeRecord(unit, grant))) return false
  if (point === 0) return true
  await changeBalance(unit, userId, kind === 'coins' ? { coins: point } : { levelPoints: point })
  if (kind === 'level') await syncLevelTag(unit, userId, point)
  if (kind === 'level' || point < 0) return true
  const owed = Math.min((await lockBalance(unit.tx, userId))?.coinsOwed ?? 0, point)
  if (owed === 0) return true
  // It matures with the earning, so that the pending sum stays correct.
  const { payment, maturesAt } = grant
  await writeRecord(unit, {
    userId,
    kind,
    point: -owed,
    reason: 'withheld',
    cause: `withheld:${cause}`,
    ...(payment ? { payment } : {}),
    ...(maturesAt ? { maturesAt } : {})
  })
  await changeBalance(unit, userId, { coins: -owed, coinsOwed: -owed })
  return true
}

/** @returns false if this cause has a record */
async function writeRecord(unit: Unit, { userId, kind, point, reason, params, cause, ...more }: Grant) {
  const written = await unit.tx
    .insert(pointRecords)
    .values({
      userId,
      kind,
      point,
      reasonCode: reason,
      reasonParams: params ?? null,
      cause,
      payment: more.payment ?? null,
      rate: more.rate ?? null,
      nominal: more.nominal ?? null,
      maturesAt: more.maturesAt ?? null,
      createdAt: unit.now
    })
    .onConflictDoNothing({ target: pointRecords.cause })
    .returning({ id: pointRecords.id })
  return written.length > 0
}

export const sentenceOfRecord = (row: { reasonCode: PointReason; reasonParams: Params | null }): string =>
  fillIn(POINT_REASONS[row.reasonCode], row.reasonParams ?? {})

/** Has the platform's customer tagged if this change of level points changed the user's level. */
async function syncLevelTag(unit: Unit, userId: number, points: number): Promise<void> {
  const levelAt = (sum: SQL) =>
    sql<number>`coalesce((select max(${levelCodes.level}) from ${levelCodes} where ${levelCodes.point} <= ${sum}), 0)`
  const [level] = await unit.tx
    .select({
      now: levelAt(sql`${users.levelPoints}`),
      before: levelAt(sql`${users.levelPoints} - ${points}::bigint`)
    })
    .from(users)
    .where(eq(users.id, userId))
  if (level && level.now !== level.before) unit.jobs.send(levelTagQueue, { userId }, { key: String(userId) })
}

/** Call it after a change that may affect many users' levels. One pass over all of the platform's customers. */
export const syncLevelTags = (unit: Unit): void => unit.jobs.send(levelTagsQueue, {}, { key: 'asked' })
