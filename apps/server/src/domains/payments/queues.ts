import { queue } from '../../infra/jobs.ts'

/** One try: the reconciliation asks again every five minutes for what is still unknown. */
export const readForeignRefundsQueue = queue<{ platformOrderId: string }>('read-foreign-refunds', {
  retryLimit: 0,
  deleteAfterSeconds: 3600
})

export const reconcileQueue = queue<object>('reconcile-payments', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const compareFiguresQueue = queue<object>('compare-order-figures', {
  expireInSeconds: 600,
  deleteAfterSeconds: 86_400
})
