import { applyProductDeletion, applyProductUpdate } from './domains/catalog/index.ts'
import type { EventHandlers } from './domains/commerce/index.ts'
import { settleReport } from './domains/inbox/index.ts'
import { cancelPayment, disputePayment, refundPayment } from './domains/payments/index.ts'
import {
  applyRefundChange,
  reportDoubtfulRefund,
  holdCreated,
  readTransaction
} from './domains/reconciliation/index.ts'

/** The domains' handlers of the platform's events. */
export const eventHandlers: EventHandlers = {
  'orders/create': holdCreated,
  'orders/paid': settleReport,
  'orders/cancelled': cancelPayment,
  'refunds/create': refundPayment,
  'order_transactions/create': readTransaction,
  'disputes/create': disputePayment,
  'disputes/update': disputePayment,
  'reconciled/refund': applyRefundChange,
  'reconciled/doubt': reportDoubtfulRefund,
  'products/update': applyProductUpdate,
  'products/delete': applyProductDeletion
}
