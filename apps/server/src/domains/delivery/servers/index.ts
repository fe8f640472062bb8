import { routes } from '@netlet/contract'
import { mountList } from '../../../infra/list/index.ts'
import type { Mount } from '../../../infra/http/mount.ts'
import type { AppContext } from '../../../infra/context.ts'
import { drainServer, giveUpServer, impactOf, moveOrder, moveServerOrders, planAction, reopen } from './commands.ts'
import type { TaskScope } from '../tasks.ts'
import { creditOutage, previewCredit, removeUncredited } from './credit-outage.ts'
import { outagesList, readOutage, readOutageOrders } from './lost-time.ts'

/** What happens to orders when their servers go away: rescue, moves, giving up, credit, reopening. */
export { moveRunRow } from './commands.ts'
export { noteOfRun } from './move-off-server.ts'
export { creditOrder } from './credit-outage.ts'
export { rescueOrders } from './rescue.ts'

/** Routes of servers that change the orders there. */
export function serverOrderRoutes(
  mount: Mount,
  ctx: AppContext,
  { deliveryRefusal }: Pick<TaskScope, 'deliveryRefusal'>
): void {
  const { fleet, orders } = routes
  mount(fleet.impact, call => impactOf(ctx.db, call.params.id))
  mount(fleet.plan, call => planAction(ctx, call.caller, call.params.id, call.query))
  mount(fleet.drain, call => drainServer(ctx, call.caller, call.params.id, call.body))
  mount(fleet.moveOrders, call => moveServerOrders(ctx, call.caller, call.params.id, call.body))
  mount(fleet.giveUp, call => giveUpServer(ctx, call.caller, call.params.id, call.body))
  mountList(mount, ctx, fleet.allOutages, () => outagesList(ctx.now))
  mount(fleet.outage, call => readOutage(ctx.db, call.params.id, ctx.now()))
  mount(fleet.removeOutage, call => removeUncredited(ctx, call.caller, call.params.id))
  mount(fleet.outageOrders, call => readOutageOrders(ctx.db, call.params.id, call.query, ctx.now()))
  mount(fleet.previewCredit, call => previewCredit(ctx.db, call.params.id, ctx.now()))
  mount(fleet.creditOutage, call => creditOutage(ctx, call.caller, call.params.id, call.body))
  mount(orders.move, call => moveOrder(ctx, call.caller, call.params.id, call.body))
  mount(orders.reopen, call => reopen(ctx, call.caller, call.params.id, deliveryRefusal))
}
