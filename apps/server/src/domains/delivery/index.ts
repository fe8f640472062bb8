/**
 * The proxies of paid orders: starting their delivery, following the agents (`advance`), tasks on them, checks, expiry.
 * It owns `proxies` and `outage_credits`; other tables change through their domains' commands. Convergence reports
 * what agents confirmed through `confirmOutcomes`. A port informs payments when a failed order is delivered.
 */
export { advance, confirmOutcomes } from './advance.ts'
export { endDelivery, endGraces, expireOrders, endsAtOnce, expireShortened } from './expire.ts'
export { proxyChecksOf } from './checks/index.ts'
export { deliveryJobs } from './jobs.ts'
export { deliveryRoutes } from './routes.ts'
export { restoreAddresses, reviveDelivery } from './revive.ts'
export { startDelivery } from './start.ts'
export { deliveryRetention } from './jobs.ts'
export { creditOrder, moveRunRow, noteOfRun } from './servers/index.ts'
export { planTask, requestTaskIn, type DeliveryPorts } from './tasks.ts'
