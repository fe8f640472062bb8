export { grantForPayment } from './grant-for-payment.ts'
export { grantPoints, type Grant } from './grant.ts'
export { discountCodeFor, seedLevelCodes } from './level-codes.ts'
export { levelOf, levelThresholds, type Threshold } from './levels.ts'
