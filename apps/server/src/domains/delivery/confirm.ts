import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { ConfirmPort } from '../fleet/index.ts'
import { lockOrders } from '../orders/index.ts'
import { advanceLocked } from './advance.ts'

/**
 * What the fleet calls with the outcomes of an agent. First the orders are locked, then the fleet writes its users:
 * whoever changes an order takes them in the same sequence. Then the orders advance, all in one command.
 */
export const confirmOutcomes =
  (ctx: AppContext): ConfirmPort =>
  (orderIds, write) =>
    command(ctx, SYSTEM, async unit => {
      const locked = await lockOrders(unit, orderIds)
      await write(unit)
      await advanceLocked(unit, locked)
    })
