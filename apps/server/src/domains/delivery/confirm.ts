import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { ConfirmPort } from '../fleet/index.ts'
import { lockOrders } from '../orders/index.ts'
import { advanceLocked } from './advance.ts'

/**
 * The fleet calls this with the outcomes of an agent. The orders are locked before the fleet writes its users, because
 * every change of an order locks in this sequence. Then the orders advance, in the same command.
 */
export const confirmOutcomes =
  (ctx: AppContext): ConfirmPort =>
  (orderIds, write) =>
    command(ctx, SYSTEM, async unit => {
      const locked = await lockOrders(unit, orderIds)
      await write(unit)
      await advanceLocked(unit, locked)
    })
