import { type CodeKind, type DiscountType, message, toCents } from '@netlet/contract'
import { sql, type SQL } from '../../infra/db/drizzle.ts'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { coupons, giftCards, levelCodes } from './tables.ts'
import { formRefusal } from '../../infra/refusals.ts'

/** Refuses more than 100 percent. */
export const tooManyPercent = (discount: string, type: DiscountType) =>
  type === 'percent' && toCents(discount) > 100_00n
    ? formRefusal({ discount: message('must_be_at_most', { max: 100 }) })
    : undefined

/**
 * A code is one discount on the platform, so it must not be in two tables, nor belong to two levels. Only a gift card's
 * code may move, to the promo code that it is exchanged for. A command that adds or renames a code takes this lock
 * first, until it ends.
 */
export const lockCodes = (tx: Executor): Promise<void> => lock(tx, 'rewardCodes')

/** Case-insensitive, as on the platform. */
export const sameCode = (column: PgColumn, code: string): SQL => sql`lower(${column}) = lower(${code})`

/**
 * The same for many codes. The database lowercases both sides, as its index does: JavaScript lowercases 'İ' and a final
 * 'Σ' in another way.
 */
export const oneOfCodes = (column: PgColumn, codes: readonly string[]): SQL =>
  sql`lower(${column}) = any(array(select lower(named) from unnest(${sql.param([...codes])}::text[]) named))`

/**
 * Does another row have this code? Call it under `lockCodes`. Unique indexes check within each table.
 * @param kept the row's current code, which it may keep even if it came from a gift card
 */
export async function isCodeTaken(
  tx: Executor,
  { kind, code, kept = '' }: { kind: CodeKind; code: string; kept?: string | undefined }
): Promise<boolean> {
  if (code === '' || code.toLowerCase() === kept.toLowerCase()) return false
  const inCoupons = kind !== 'coupon' && (await tx.$count(coupons, sameCode(coupons.code, code))) > 0
  const inCards = kind !== 'gift_card' && (await tx.$count(giftCards, sameCode(giftCards.code, code))) > 0
  return inCoupons || inCards || (await tx.$count(levelCodes, sameCode(levelCodes.code, code))) > 0
}
