import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { coupons, giftCards } from './tables.ts'

/**
 * A gift card's code becomes a promo code when somebody exchanges coins for it. So one code must not be in both
 * tables before that: whoever adds or renames a code takes this lock first, until the command ends.
 */
export const lockCodes = (tx: Executor): Promise<void> => lock(tx, 'rewardCodes')

export const isGiftCardCode = async (tx: Executor, code: string): Promise<boolean> =>
  (await tx.$count(giftCards, eq(sql`lower(${giftCards.code})`, code.toLowerCase()))) > 0

export const isCouponCode = async (tx: Executor, code: string): Promise<boolean> =>
  (await tx.$count(coupons, eq(sql`lower(${coupons.code})`, code.toLowerCase()))) > 0
