import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { coupons, giftCards } from './tables.ts'

/**
 * A gift card's code becomes a promo code when somebody exchanges coins for it. So one code must not stand in both
 * tables before that: whoever adds or renames a code takes this lock first, until the transaction ends.
 */
export const lockCodes = (tx: Executor) => tx.execute(sql`select pg_advisory_xact_lock(hashtext('reward codes'))`)

export const isGiftCardCode = async (tx: Executor, code: string): Promise<boolean> =>
  (await tx.$count(giftCards, eq(sql`lower(${giftCards.code})`, code.toLowerCase()))) > 0

export const isCouponCode = async (tx: Executor, code: string): Promise<boolean> =>
  (await tx.$count(coupons, eq(sql`lower(${coupons.code})`, code.toLowerCase()))) > 0
