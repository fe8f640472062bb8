import { eq } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { removeDesiredUsers } from '../fleet/index.ts'
import { expireOrder, lockExpired } from '../orders/index.ts'
import { advance } from './advance.ts'
import { proxies } from './tables.ts'

const BATCH = 50

/**
 * Ends orders whose time is over: their users are taken off the agents at once, and once those have confirmed the
 * addresses return to stock.
 * @returns how many orders expired
 */
export async function expireOrders(ctx: AppContext): Promise<number> {
  let total = 0
  for (;;) {
    const some = await command(ctx, SYSTEM, async unit => {
      const due = await lockExpired(unit, BATCH)
      for (const order of due) {
        await expireOrder(unit, order)
        await unit.tx
          .update(proxies)
          .set({ state: 'retired', updatedAt: unit.now })
          .where(eq(proxies.orderId, order.id))
        await removeDesiredUsers(unit, order.id)
      }
      // An order that no agent ever heard of gives its addresses back here and now.
      await advance(
        unit,
        due.map(order => order.id)
      )
      return due.length
    })
    total += some
    if (some < BATCH) return total
  }
}
