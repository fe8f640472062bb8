import { applyProductDeletion, applyProductUpdate } from './domains/catalog/index.ts'
import type { EventHandlers } from './domains/commerce/index.ts'
import { settlePaidOrder, unlessForOthers } from './domains/inbox/index.ts'
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
  'orders/cancelled': unlessForOthers(cancelPayment),
  'refunds/create': unlessForOthers(recordRefundReport),
  'order_transactions/create': readTransaction,
  'disputes/create': unlessForOthers(disputePayment),
  'disputes/update': unlessForOthers(disputePayment),
  'reconciled/refund': applyRefundChange,
  'reconciled/doubt': reportDoubtfulRefund,
  'products/update': applyProductUpdate,
  'products/delete': applyProductDeletion
}
