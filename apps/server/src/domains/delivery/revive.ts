import { and, eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { setDesiredUsers } from '../fleet/index.ts'
import { reviveOrder, type OrderRow } from '../orders/index.ts'
import { servedShares, usersOf } from './start.ts'
import { proxies } from './tables.ts'

/**
 * An order was renewed: where it had expired, its proxies come back on the addresses that were held for it, with the
 * credentials that they had. Does nothing for one whose time still runs. Agents that do not answer follow later.
 */
export async function reviveDelivery(unit: Unit, order: OrderRow): Promise<void> {
  if (order.state !== 'expired') return
  await reviveOrder(unit, order)
  // They wait for their agents from now on.
  await unit.tx
    .update(proxies)
    .set({ updatedAt: unit.now })
    .where(and(eq(proxies.orderId, order.id), eq(proxies.state, 'pending')))
  await setDesiredUsers(unit, usersOf(order, await servedShares(unit.tx, order.id)))
}
