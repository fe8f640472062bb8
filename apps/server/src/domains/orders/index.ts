/**
 * Orders from checkout to expiry: placing, timing out, listing, extending, deleting, their history, and figures by day.
 * It owns orders, order_events, checkout_keys, order_product_names, order_figures and order_figure_deltas. Delivery and
 * payments lock and change an order through the commands below. No other domain writes these tables, and this one does
 * not know agents, proxies or payments.
 */
export {
  failOrder,
  markDelivered,
  markPaid,
  markPartlyDelivered,
  recordAddressChange,
  recordProgress,
  setCredentials,
  startDelivering,
  type Failure
} from './commands.ts'
export {
  endGrace,
  expireOrder,
  graceAfter,
  lockExpired,
  lockGraceEnded,
  renewableBefore,
  wasDelivered,
  wasRenewalServed
} from './expire.ts'
export { announce, noteDetail, type Note } from './announce.ts'
export {
  productNameColumn,
  orderMail,
  orderMailColumns,
  orderMailFrom,
  orderTranslations,
  rulesIn
} from './order-mail.ts'
export {
  addToPaid,
  awaitPayment,
  partlyRefundOrder,
  refundOrder,
  replacePayment,
  restoreOrder,
  restorePart,
  restoreTerm,
  takeBackTerm,
  termWithout
} from './money-commands.ts'
export { canReopen, creditTime, creditUnserved, markRescueTried, regroup, reopenOrder } from './move-commands.ts'
export { orderJobs } from './jobs.ts'
export { dailyFigures } from './figures.ts'
export { guardAddressSearch, orderLabels } from './guard-address-search.ts'
export { countUndelivered, findOrder, orderList } from './list.ts'
export { exportOrders, forgetBuyer, hasOwedOrders, lockOwedOrders, platformNamesOf } from './own-orders.ts'
export { planRemoval, removeOrderIn, restoreDeleted } from './remove-order.ts'
export { placeOrder } from './place-order.ts'
export { placeLostOrder } from './restored-order.ts'
export { remindExpiries } from './remind.ts'
export {
  PENDING_GRACE,
  addDays,
  heldUntil,
  isOver,
  isOverSql,
  isOverWith,
  isUnsettled,
  isUnsettledSql,
  renewable,
  renewableUntil,
  renewOrder,
  reviveOrder
} from './renew.ts'
export { quotaRefusal } from './quotas.ts'
export { orderRoutes } from './routes.ts'
export {
  termsAsPlaced,
  isPaidInTime,
  ourVariants,
  paidAtOf,
  receiptDateOf,
  currentTerms,
  currentTermsOf,
  type CurrentTerms
} from './current-terms.ts'
export { orderRetention, removeUnpaidOrders } from './jobs.ts'
export { searchHolders, searchOrders } from './guard-address-search.ts'
export { served } from './tables.ts'
export { isServed, SERVED_STATES } from './states.ts'
export {
  beginTask,
  failTask,
  finishTask,
  lastRequestOf,
  queueTask,
  recordTaskDone,
  undoTaskCount,
  type FailedTask
} from './task-commands.ts'
export { taskStateOf } from './task-states.ts'
export { forgetPending, formerlyPending, holdForPayment, holdForRenewal, type UnpaidState } from './pending.ts'
export { timeOutOrders } from './time-out.ts'
export { trafficPorts } from './traffic.ts'
export { emitOrderEvent } from './transition.ts'
export { lockOrder, lockOrderByPublicId, lockOrders, recordEvent, type OrderRow } from './transition.ts'
export { orderFinders } from './jobs.ts'
