/**
 * What the platform has to know of rewards: the discounts that promo codes, gift cards and level codes stand for, and the
 * tags of its customers by their level. It owns no table: what the platform has is written down by rewards' own commands,
 * and every piece of work here may be done again, since it looks before it writes.
 */
export { promotionsJobs } from './jobs.ts'
