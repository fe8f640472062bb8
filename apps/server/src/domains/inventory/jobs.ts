import { withUnit } from '../../infra/legacy-unit.ts'
import { queue } from '../../infra/jobs.ts'
import type { AppContext } from '../../infra/context.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { audit } from './audit.ts'

/** Every night: is what is derived from the leases what they say? */
const auditQueue = queue<object>('audit-inventory', { retryLimit: 2, deleteAfterSeconds: 86_400 })

export const inventoryQueues = [auditQueue]

/** Works on the inventory's background jobs in this process. */
export async function inventoryJobs(ctx: AppContext): Promise<void> {
  await ctx.jobs.work(auditQueue, () => auditNow(ctx))
  await ctx.jobs.schedule(auditQueue, '23 3 * * *')
}

/** Counts what must be nothing; an administrator hears of anything else. */
async function auditNow(ctx: AppContext): Promise<void> {
  const { differences, doubleLeased } = await audit(ctx.db)
  if (differences === 0 && doubleLeased === 0) return
  ctx.log.error({ differences, doubleLeased }, 'the inventory does not add up')
  await withUnit(ctx.db, ctx.jobs, unit =>
    notifyAdmins(unit, {
      subject: 'The inventory does not add up',
      text: `The nightly audit found ${doubleLeased} addresses leased twice under one access rule, and ${differences} derived rows that are not as the leases say.\n\nStop selling from the servers concerned until this is explained: docs/INVENTORY.md says how to look.`,
      key: `audit:${ctx.now().toISOString().slice(0, 10)}`
    })
  )
}
