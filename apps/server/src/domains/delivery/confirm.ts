import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { ConfirmPort } from '../fleet/index.ts'
import { lockOrders } from '../orders/index.ts'
import { advance } from './advance.ts'

/** What an agent confirmed and what it means for its orders are one command. The orders come first: see `ConfirmPort`. */
export const confirmPort =
  (ctx: AppContext): ConfirmPort =>
  (orderIds, write) =>
    command(ctx, SYSTEM, async unit => {
      if (orderIds.length > 0) await lockOrders(unit.tx, orderIds)
      await write(unit)
      if (orderIds.length > 0) await advance(unit.tx, ctx, orderIds)
    })
