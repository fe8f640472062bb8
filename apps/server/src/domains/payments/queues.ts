import type { Unit } from '../../infra/command.ts'
import { queue } from '../../infra/jobs.ts'

/** No retry: the reconciliation queues an unread order again every five minutes. */
export const readOrderQueue = queue<{ platformOrderId: string }>('read-platform-order', {
  retryLimit: 0,
  deleteAfterSeconds: 3600
})

/** Queues a read of the platform's order. Repeated calls before it runs queue it once. */
export const enqueueOrderRead = (unit: Unit, platformOrderId: string): void =>
  unit.jobs.send(readOrderQueue, { platformOrderId }, { key: platformOrderId })
