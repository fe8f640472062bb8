/**
 * Orders from checkout to expiry: how one is placed, times out, is listed, extended and deleted, its history, and the
 * figures of all orders by day. It owns orders, order_events, order_product_names, order_figures and order_figure_deltas.
 * Delivery and payments lock an order here and change it through the commands below; nobody else writes these tables, and
 * nothing here knows of agents, proxies or payments.
 */
export {
  expireOrder,
  failOrder,
  lockExpired,
  markDelivered,
  markPaid,
  markPartlyDelivered,
  markReset,
  partlyRefundOrder,
  recordProgress,
  refundOrder,
  renewOrder,
  replacePayment,
  setCredentials,
  startDelivering,
  takeBackTerm,
  type Failure,
  type GivenBack
} from './commands.ts'
export { orderJobs } from './jobs.ts'
export { figuresOf, kept, type Statistics } from './figures.ts'
export { findOrder, orderList } from './list.ts'
export { placeOrder } from './place-order.ts'
export { remindExpiries } from './remind.ts'
export { removeOrderIn } from './remove.ts'
export { orderRoutes } from './routes.ts'
export { isLive } from './states.ts'
export { beginTask, finishTask, queueTask, type FailedTask } from './task-commands.ts'
export { taskStateOf } from './task-states.ts'
export { timeOutOrders } from './time-out.ts'
export { lockOrder, lockOrderByPublicId, lockOrders, note, type OrderRow } from './transition.ts'
