/**
 * Brings rewards to the platform: discounts for promo codes, gift cards and level codes, and its customers' tags by
 * level. It owns no table: commands of rewards record what the platform has. All its work is idempotent, because it
 * looks before it writes.
 */
export { promotionsJobs } from './jobs.ts'
