/** What becomes of orders when their servers go away: rescue, moves, giving up, credit, reopening. */
export { announceMove } from './announce-move.ts'
export { leaveServerRow } from './commands.ts'
export { creditOrder } from './credit-outage.ts'
export { leaveGivenUp } from './replace.ts'
export { rescueOrders } from './rescue.ts'
export { serverOrderRoutes } from './routes.ts'
