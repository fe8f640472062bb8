import { fillIn, POINT_REASONS, type Params, type PointReason } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import { changeBalance } from '../accounts/index.ts'
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
}

/**
 * Changes a user's level points or coins together with their record, in the command of the cause.
 * @returns false where this cause was granted before, and nothing changed
 * @throws where the balance would fall below zero: the caller holds the user's row and has looked
 */
export async function grantPoints(unit: Unit, { userId, kind, point, reason, params, cause }: Grant): Promise<boolean> {
  if (point === 0) return false
  const written = await unit.tx
    .insert(pointRecords)
    .values({ userId, kind, point, reasonCode: reason, reasonParams: params ?? null, cause, createdAt: unit.now })
    .onConflictDoNothing({ target: pointRecords.cause })
    .returning({ id: pointRecords.id })
  if (written.length === 0) return false
  await changeBalance(unit, userId, kind === 'coins' ? { coins: point } : { levelPoints: point })
  return true
}

/** The sentence of a points record. */
export const sentenceOfRecord = (row: { reasonCode: PointReason; reasonParams: Params | null }): string =>
  fillIn(POINT_REASONS[row.reasonCode], row.reasonParams ?? {})
