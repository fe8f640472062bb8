import { fillIn, POINT_REASONS, type Params, type PointReason } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import { changeBalance, lockBalance } from '../accounts/index.ts'
import { followLevel } from './level-tags.ts'
import { pointRecords } from './tables.ts'

export type Grant = {
  userId: number
  kind: 'level' | 'coins'
  /** Whole points; negative takes away. */
  point: number
  /** Why, for the points history, with what fills its sentence. */
  reason: PointReason
  params?: Params
  /** Names what caused it, such as 'invite:42': granted once, however often it is asked for. */
  cause: string
  /** The platform's order that earned it: see `takeBackForPayment`. */
  payment?: string
  /** By what its amount was multiplied; 0: the settings gave nothing. */
  rate?: number | null
  /** See the column. */
  nominal?: number
  /** From when on coins can be spent; without it at once. */
  maturesAt?: Date | null
}

/**
 * Changes a user's level points or coins together with their record, in the command of the cause. Of coins that are
 * earned, those that the user owes are kept, with a record of their own.
 * @returns false where this cause was granted before, or gives nothing, and nothing changed
 * @throws where the balance would fall below zero: the caller holds the user's row and has looked
 */
export async function grantPoints(unit: Unit, grant: Grant): Promise<boolean> {
  const { userId, kind, point, cause } = grant
  // What the settings gave nothing for earns nothing later, whatever they say by then: that is written down. So are coins of
  // which only millionths were earned.
  if (point === 0 && grant.rate !== 0 && !(kind === 'coins' && grant.nominal)) return false
  if (!(await writeRecord(unit, grant))) return false
  if (point === 0) return true
  await changeBalance(unit, userId, kind === 'coins' ? { coins: point } : { levelPoints: point })
  if (kind === 'level') await followLevel(unit, userId, point)
  if (kind === 'level' || point < 0) return true
  const owed = Math.min((await lockBalance(unit.tx, userId))?.coinsOwed ?? 0, point)
  if (owed === 0) return true
  // It matures with what it is kept from, so that what is pending is what is left.
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

/** @returns false where there is a record of this cause */
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

/** The sentence of a points record. */
export const sentenceOfRecord = (row: { reasonCode: PointReason; reasonParams: Params | null }): string =>
  fillIn(POINT_REASONS[row.reasonCode], row.reasonParams ?? {})
