import { and, isNull, ne } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { queue } from '../../infra/jobs.ts'
import { readCheck, waitingEvents } from '../commerce/index.ts'
import { readUnknownUsers } from '../convergence/index.ts'
import { enqueueFullSync } from '../servers/index.ts'
import { servers } from '../servers/tables.ts'
import { endRecovery, isRecovering, recordHeld, readRestored } from '../settings/index.ts'
import { reconcilePayments } from './reconcile.ts'
import { job, type Job } from '../../infra/job.ts'
import { readOrderQueue } from '../payments/index.ts'
import { queueUnreadOrders, readOrder } from './read-order.ts'
import { reconcileDisputes } from './missed-disputes.ts'

const recoverQueue = queue<object>('recover-after-restore', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** How long the recovery waits for agents that do not answer. */
const AGENTS_MS = 10 * MINUTE
const AGAIN_MS = 2000

/**
 * After a restore from a backup: asks the agents what they serve besides, reads from the platform all orders that
 * changed since the backup, and lets the shop go on once their events are handled. It may run many times, and at once
 * with itself.
 */
async function recover(ctx: AppContext): Promise<void> {
  if (!(await isRecovering(ctx.db))) return
  try {
    if (!(await askAgents(ctx))) return
    await reconcilePayments(ctx)
  } catch (error) {
    // The health page shows it, and the next run asks again.
    ctx.log.warn({ err: error }, 'the platform does not say what was paid since the backup')
    return
  }
  const { more } = (await readCheck(ctx.db, 'reconciliation'))?.result ?? {}
  const { count } = await waitingEvents(ctx.db)
  await command(ctx, SYSTEM, async unit => {
    if (more || count > 0) return unit.jobs.send(recoverQueue, {}, { key: 'again', startIn: AGAIN_MS })
    if (!(await isRecovering(unit.tx))) return
    await endRecovery(unit)
    const all = await unit.tx
      .select({ id: servers.id })
      .from(servers)
      .where(and(isNull(servers.deletedAt), ne(servers.status, 'given_up')))
    for (const { id } of all) enqueueFullSync(unit, id)
    unit.publish('platform_event')
  })
}

/** @returns false while agents are silent */
async function askAgents(ctx: AppContext): Promise<boolean> {
  const restored = await readRestored(ctx.db)
  if (!restored || restored.held !== null) return true
  const { held, silent } = await readUnknownUsers(ctx)
  if (silent > 0 && ctx.now().getTime() < restored.restoredAt.getTime() + AGENTS_MS) return false
  await command(ctx, SYSTEM, unit => recordHeld(unit, held))
  return true
}

export const reconciliationJobs: Job[] = [
  job(queue<object>('reconcile-payments', { retryLimit: 0, deleteAfterSeconds: 3600 }), {
    purpose:
      'Reads payments, refunds, disputes and cancellations from the platform, and records those that no webhook reported.',
    cron: '*/5 * * * *',
    async run(ctx) {
      await queueUnreadOrders(ctx)
      await reconcilePayments(ctx)
    }
  }),
  job(recoverQueue, {
    purpose:
      'After a restore from a backup: finds payments made since then, and then lets the shop sell and change again.',
    cron: '* * * * *',
    atStart: true,
    run: recover
  }),
  job(queue<object>('reconcile-disputes', { retryLimit: 0, deleteAfterSeconds: 3600 }), {
    purpose: 'Reads disputes from the platform, and records those that no webhook reported.',
    cron: '23 * * * *',
    run: async ctx => void (await reconcileDisputes(ctx))
  }),
  job(readOrderQueue, {
    purpose: 'Reads the result of a reported refund or dispute from the platform, and reassesses held payments.',
    run: readOrder
  })
]

/**
 * Asks the platform for what no webhook reported: payments, refunds, cancellations, edits, and refunds that changed or
 * failed. It owns no table: `commerce` stores what it finds as an event, which is handled like a webhook.
 */
export { applyRefundChange, reportDoubtfulRefund } from './changed-refunds.ts'
export { holdCreated } from './pending-payments.ts'
export { readTransaction } from './read-order.ts'
