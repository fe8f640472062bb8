import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lockOrders } from '../orders/index.ts'
import { advance } from './advance.ts'

/** Writes down what agents confirmed about users of these orders. */
export type ConfirmPort = (orderIds: number[], write: (unit: Unit) => Promise<void>) => Promise<void>

/**
 * What the fleet calls with the outcomes of an agent. First the orders are locked, then the fleet writes its users:
 * whoever changes an order takes them in the same sequence. Then the orders advance, all in one command.
 */
export const confirmOutcomes =
  (ctx: AppContext): ConfirmPort =>
  (orderIds, write) =>
    command(ctx, SYSTEM, async unit => {
      await lockOrders(unit, orderIds)
      await write(unit)
      await advance(unit, orderIds)
    })
