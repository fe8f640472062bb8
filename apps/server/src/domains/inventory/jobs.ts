import { queue } from '../../platform/jobs.ts'
import type { Shop } from '../../platform/shop.ts'
import { notifyAdmins } from '../mail/index.ts'
import { audit } from './audit.ts'

/** Every night: is what is derived from the leases what they say? */
const auditQueue = queue<object>('audit-inventory', { retryLimit: 2, deleteAfterSeconds: 86_400 })

export const inventoryQueues = [auditQueue]

/** Works on the inventory's background jobs in this process. */
export async function inventoryJobs(shop: Shop): Promise<void> {
  await shop.jobs.work(auditQueue, () => auditNow(shop))
  await shop.jobs.schedule(auditQueue, '23 3 * * *')
}

/** Counts what must be nothing; an administrator hears of anything else. */
async function auditNow(shop: Shop): Promise<void> {
  const { differences, doubleLeased } = await audit(shop.db)
  if (differences === 0 && doubleLeased === 0) return
  shop.log.error({ differences, doubleLeased }, 'the inventory does not add up')
  await notifyAdmins(shop.db, shop.jobs, {
    subject: 'The inventory does not add up',
    text: `The nightly audit found ${doubleLeased} addresses leased twice under one access rule, and ${differences} derived rows that are not as the leases say.\n\nStop selling from the servers concerned until this is explained: docs/INVENTORY.md says how to look.`,
    key: `audit:${shop.now().toISOString().slice(0, 10)}`
  })
}
