import type { LevelDiscount } from '@netlet/contract'
import { and, eq, gt, inArray } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { levelCodes } from './tables.ts'

/**
 * The discounts of these level codes at the checkout. It leaves out codes that no level has any more, and those that
 * the platform was not last seen to have as they are now, because their discount may differ.
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

/** The same for one code. */
export const levelDiscount = async (db: Executor, code: string | null): Promise<LevelDiscount | null> =>
  (await levelDiscounts(db, [code])).get(code) ?? null
