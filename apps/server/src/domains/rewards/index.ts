/**
 * What customers earn and what they get for it: level points, coins, promo codes, gift cards, level discounts and
 * points for chat messages. It owns coupons, gift_cards, level_codes, point_records, level_decays, chat_events,
 * chat_points and chat_account_points. Balances are in the users of accounts and change only by `grantPoints`, together
 * with their record. Other domains grant by these functions within their own command.
 */
export { changePoints, pendingCoins } from './take-coins.ts'
export { couponList, setCouponUse, markCouponsUsed } from './coupons.ts'
export {
  chatAccountHash,
  chatChannels,
  chatPointsOfDay,
  grantForChatMessage,
  OLDEST_CHAT_MESSAGE
} from './chat-points.ts'
export { grantForPayment, lockEarners, rewardInvitation } from './grant-for-payment.ts'
export { restoreForPayment, takeBackForPayment, takeBackPart } from './take-back.ts'
export { createGiftCard, deleteGiftCardIn, planGiftCardRemoval } from './gift-cards.ts'
export { noticeUnusable } from './exchange.ts'
export { giftCardList } from './list-gift-cards.ts'
export { exportCodes, exportPoints, forgetInvited } from './point-history.ts'

export {
  askPlatformIn,
  syncCurrentOwner,
  isAsWanted,
  recordCode,
  wantedCode,
  wantedCodes,
  type CodeRef,
  type Seen
} from './platform-codes.ts'
export { endCodesOf, syncCodesToAddress } from './platform-codes.ts'
export { codeQueue, endCodeQueue, levelTagQueue, levelTagsQueue } from './queues.ts'
export { rewardsJobs } from './jobs.ts'
export { discountCodeFor, levelCodeList, levelThresholds, seedLevelCodes } from './level-codes.ts'
export { levelDiscount, levelDiscounts } from './level-codes.ts'
export { rewardsRetention } from './jobs.ts'
export { rewardsRoutes } from './routes.ts'
