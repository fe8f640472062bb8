import { SYSTEM } from '../../infra/actor.ts'
import { inBatches } from '../../infra/batches.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { endQuarantine } from './leasing.ts'
import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'

type InventoryAudit = {
  /** Rows that differ from what the live lease blocks say. */
  differences: number
  /** (unit, rule) pairs that two live blocks hold, counted without the derived rows. */
  doubleLeased: number
}

/** Recomputes everything derived from the leases. Both figures must be 0. Takes about 1 s for a million addresses. */
export async function audit(db: Executor): Promise<InventoryAudit> {
  const { rows } = await db.execute<{ differences: number; doubleLeased: number }>(
    sql`select inventory.differences() as differences, inventory.double_leased() as "doubleLeased"`
  )
  if (!rows[0]) throw new Error('the audit gave no answer')
  return rows[0]
}

const auditQueue = queue<object>('audit-inventory', { retryLimit: 2, deleteAfterSeconds: 86_400 })

/** Blocks that return to stock in one transaction. */
const REST_BATCH = 500

const restQueue = queue<object>('end-quarantine', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const inventoryJobs: Job[] = [
  job(restQueue, {
    purpose: 'Returns addresses to stock after quarantine_hours.',
    cron: '* * * * *',
    run: ctx => endQuarantines(ctx)
  }),
  job(auditQueue, {
    purpose: 'Checks that derived data matches the leases, and notifies operators if it does not.',
    cron: '23 3 * * *',
    run: auditNow
  })
]

/** Returns to stock every block whose quarantine is over. @returns the number of blocks */
export const endQuarantines = (ctx: AppContext, batch = REST_BATCH): Promise<number> =>
  inBatches(ctx, batch, unit => endQuarantine(unit.tx, unit.now, batch))

async function auditNow(ctx: AppContext): Promise<void> {
  const { differences, doubleLeased } = await audit(ctx.db)
  if (differences === 0 && doubleLeased === 0) return
  ctx.log.error({ differences, doubleLeased }, 'the inventory is inconsistent')
  await command(ctx, SYSTEM, unit =>
    notifyAdmins(unit, {
      words: 'inventory',
      params: { leased: doubleLeased, differences },
      key: `audit:${ctx.now().toISOString().slice(0, 10)}`,
      cause: 'inventory'
    })
  )
}
