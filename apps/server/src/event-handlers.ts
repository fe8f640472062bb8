import { applyProductDeletion, applyProductUpdate } from './domains/catalog/index.ts'
import type { EventHandlers } from './domains/commerce/index.ts'
import { settlePaidOrder } from './domains/inbox/index.ts'
import { cancelPayment, disputePayment, recordRefundReport } from './domains/payments/index.ts'
import {
  applyRefundChange,
  reportDoubtfulRefund,
  holdCreated,
  readTransaction
} from './domains/reconciliation/index.ts'

/** The domains' handlers of the platform's events. */
export const eventHandlers: EventHandlers = {
  'orders/create': holdCreated,
  'orders/paid': settlePaidOrder,
  'orders/cancelled': cancelPayment,
  'refunds/create': recordRefundReport,
  'order_transactions/create': readTransaction,
  'disputes/create': disputePayment,
  'disputes/update': disputePayment,
  'reconciled/refund': applyRefundChange,
  'reconciled/doubt': reportDoubtfulRefund,
  'products/update': applyProductUpdate,
  'products/delete': applyProductDeletion
}
