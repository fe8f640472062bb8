import { routes } from '@netlet/contract'
import type { Mount } from '../../../infra/http/mount.ts'
import type { AppContext } from '../../../infra/context.ts'
import { drainServer, giveUpServer, impactOf, moveOrder, moveServerOrders, reopen } from './commands.ts'
import { creditOutage, previewCredit } from './credit-outage.ts'

/** Calls on servers that change the orders there. */
export function serverOrderRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet, orders } = routes
  mount(fleet.impact, call => impactOf(ctx.db, call.params.id))
  mount(fleet.drain, call => drainServer(ctx, call.caller, call.params.id))
  mount(fleet.moveOrders, call => moveServerOrders(ctx, call.caller, call.params.id, call.body))
  mount(fleet.giveUp, call => giveUpServer(ctx, call.caller, call.params.id))
  mount(fleet.previewCredit, call => previewCredit(ctx.db, call.params.id, ctx.now()))
  mount(fleet.creditOutage, call => creditOutage(ctx, call.caller, call.params.id))
  mount(orders.move, call => moveOrder(ctx, call.caller, call.params.id, call.body))
  mount(orders.reopen, call => reopen(ctx, call.caller, call.params.id))
}
