/** What happens to orders when their servers go away: rescue, moves, giving up, credit, reopening. */
export { leaveServerRow } from './commands.ts'
export { creditOrder } from './credit-outage.ts'
export { rescueOrders } from './rescue.ts'
export { serverOrderRoutes } from './routes.ts'
