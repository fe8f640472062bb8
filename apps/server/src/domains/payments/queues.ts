import type { Unit } from '../../infra/command.ts'
import { queue } from '../../infra/jobs.ts'

/** One try: the reconciliation asks again every five minutes for what it has yet to be asked. */
export const readOrderQueue = queue<{ platformOrderId: string }>('read-platform-order', {
  retryLimit: 0,
  deleteAfterSeconds: 3600
})

/** Has the platform asked for its order, once however often this is called before it answers. */
export const askOfOrder = (unit: Unit, platformOrderId: string): void =>
  unit.jobs.send(readOrderQueue, { platformOrderId }, { key: platformOrderId })

export const reconcileQueue = queue<object>('reconcile-payments', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const compareFiguresQueue = queue<object>('compare-order-figures', {
  expireInSeconds: 600,
  deleteAfterSeconds: 86_400
})
