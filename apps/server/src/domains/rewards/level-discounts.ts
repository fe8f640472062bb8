import type { LevelDiscount } from '@netlet/contract'
import { and, eq, gt, inArray } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { levelCodes } from './tables.ts'

/**
 * What each of these codes of levels takes off at the checkout. A code is left out where it is no level's any more, or where
 * the platform was not seen to have it as it is now: its discount may be another one, or none.
 */
export async function levelDiscounts(
  db: Executor,
  codes: readonly (string | null)[]
): Promise<ReadonlyMap<string | null, LevelDiscount>> {
  const wanted = [...new Set(codes)].filter(code => code !== null && code !== '') as string[]
  if (wanted.length === 0) return new Map()
  const rows = await db
    .select({
      code: levelCodes.code,
      level: levelCodes.level,
      discount: levelCodes.discount,
      discount_type: levelCodes.discountType
    })
    .from(levelCodes)
    .where(and(inArray(levelCodes.code, wanted), eq(levelCodes.platformState, 'present'), gt(levelCodes.discount, '0')))
  return new Map(rows.map(({ code, ...discount }) => [code, discount]))
}

/** What one code takes off, as `levelDiscounts` says it. */
export const levelDiscount = async (db: Executor, code: string | null): Promise<LevelDiscount | null> =>
  (await levelDiscounts(db, [code])).get(code) ?? null
