import { eq } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
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
      for (const order of due) await expireOrder(unit, order)
      await endDelivery(
        unit,
        due.map(order => order.id)
      )
      return due.length
    })
    total += some
    if (some < BATCH) return total
  }
}

/** Takes the users of orders that have ended off the agents; their addresses go back once those have confirmed. */
export async function endDelivery(unit: Unit, orderIds: number[]): Promise<void> {
  for (const orderId of orderIds) {
    await unit.tx.update(proxies).set({ state: 'retired', updatedAt: unit.now }).where(eq(proxies.orderId, orderId))
    await removeDesiredUsers(unit, orderId)
  }
  // An order that no agent ever heard of gives its addresses back here and now.
  await advance(unit, orderIds)
}
