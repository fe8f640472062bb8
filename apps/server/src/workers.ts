import { eventHandlers } from './event-handlers.ts'
import { bulkActions } from './bulk-actions.ts'
import { accountJobs } from './domains/accounts/index.ts'
import { bulkJobs } from './domains/bulk/index.ts'
import { catalogJobs } from './domains/catalog/index.ts'
import { commerceJobs } from './domains/commerce/index.ts'
import { confirmOutcomes, deliveryJobs, proxyChecksOf, type DeliveryPorts } from './domains/delivery/index.ts'
import { certificateJobs } from './domains/certificates/index.ts'
import { convergenceJobs } from './domains/convergence/index.ts'
import { proofJobs } from './domains/proofs/index.ts'
import { serverJobs } from './domains/servers/index.ts'
import { inventoryJobs } from './domains/inventory/index.ts'
import { mailJobs } from './domains/mail/index.ts'
import { noticeJobs } from './domains/notices/index.ts'
import { orderJobs, trafficPorts } from './domains/orders/index.ts'
import { acceptDelivered } from './domains/payments/index.ts'
import { reconciliationJobs } from './domains/reconciliation/index.ts'
import { promotionsJobs } from './domains/promotions/index.ts'
import { provisioningJobs } from './domains/provisioning/index.ts'
import { retentionJobs } from './domains/retention/index.ts'
import { rewardsJobs } from './domains/rewards/index.ts'
import { webhookJobs } from './domains/webhooks/index.ts'
import { noticePorts, ownsAddresses } from './notice-ports.ts'
import { isRecovering, settingsJobs } from './domains/settings/index.ts'
import { statementJobs } from './domains/statements/index.ts'
import { statusJobs } from './domains/status/index.ts'
import { trafficJobs } from './domains/traffic/index.ts'
import { retention } from './retention.ts'
import { sealedTables } from './sealed-tables.ts'
import type { Job } from './infra/job.ts'
import type { JobQueue } from './infra/jobs.ts'

export const deliveryPorts: DeliveryPorts = { acceptPayment: acceptDelivered }

/**
 * What ends or moves orders, or frees addresses. In a restored shop it waits until all that was paid since the backup is
 * found.
 */
const PAUSED = new Set([
  'time-out-orders',
  'expire-orders',
  'end-graces',
  'rescue-orders',
  'order-task',
  'end-quarantine'
])

const paused = (one: Job): Job => ({
  ...one,
  async run(ctx, data, jobId) {
    if (!(await isRecovering(ctx.db))) return one.run(ctx, data, jobId)
    // A scheduled one comes again by itself.
    if (!one.cron) throw new Error('the shop was restored from a backup and is checking for newer payments')
  }
})

/** All background jobs, each declared by its domain. */
export const allJobs: Job[] = [
  ...accountJobs,
  ...mailJobs,
  ...webhookJobs({ ownsAddresses }),
  ...noticeJobs(noticePorts),
  ...retentionJobs(retention),
  ...rewardsJobs,
  ...bulkJobs(bulkActions),
  ...inventoryJobs,
  ...serverJobs,
  ...proofJobs,
  ...certificateJobs,
  ...convergenceJobs({ confirm: confirmOutcomes }),
  ...trafficJobs(trafficPorts),
  ...provisioningJobs,
  ...statusJobs({ proxyChecks: proxyChecksOf }),
  ...commerceJobs(eventHandlers),
  ...promotionsJobs,
  ...catalogJobs,
  ...orderJobs,
  ...deliveryJobs(deliveryPorts),
  ...statementJobs,
  ...reconciliationJobs,
  ...settingsJobs(sealedTables)
].map(one => (PAUSED.has(one.queue.name) ? paused(one) : one))

/** All queues. Each process may send to all of them. */
export const allQueues: JobQueue<object>[] = allJobs.map(({ queue }) => queue)
