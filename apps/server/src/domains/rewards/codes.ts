import type { CodeKind } from '@netlet/contract'
import { sql, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { coupons, giftCards, levelCodes } from './tables.ts'

/**
 * One code is one discount of the platform, so it must not be in two tables, nor be two levels'. Only a gift card's code
 * becomes a promo code, when somebody exchanges coins for it. Whoever adds or renames a code takes this lock first, until
 * the command ends.
 */
export const lockCodes = (tx: Executor): Promise<void> => lock(tx, 'rewardCodes')

/** Case does not count, as on the platform. */
export const sameCode = (column: PgColumn, code: string): SQL => sql`lower(${column}) = lower(${code})`

/**
 * The same for one of many. The database lowers both sides, as its index does: JavaScript writes 'İ', and a 'Σ' that ends a
 * word, in another way.
 */
export const oneOfCodes = (column: PgColumn, codes: readonly string[]): SQL =>
  sql`lower(${column}) = any(array(select lower(named) from unnest(${sql.param([...codes])}::text[]) named))`

/**
 * Is a code somebody else's? Called under `lockCodes`. Of promo codes and of gift cards each table keeps its own apart.
 * @param kept the code that the row has already: it may keep one that came from a gift card
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
