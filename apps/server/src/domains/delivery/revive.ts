import { and, asc, eq, inArray } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { reviveOrder, type OrderRow } from '../orders/index.ts'
import { servers } from '../servers/tables.ts'
import { holdingsOf, keepPendingReturns, leaseMissing, countMissing } from './holdings.ts'
import { moveOffLostServer } from './servers/replace.ts'
import { servedShares, usersOf, setOrderUsers } from './start.ts'
import { proxies } from './tables.ts'
import { announceMove } from './servers/move-off-server.ts'

/**
 * Prepares a locked, expired order for a renewal in its grace. It drops what the order held on servers that were given
 * up, and leases again what it lost, unless it still holds addresses that it was to give back. Its customer hears of
 * changed addresses. Repeating it changes nothing.
 * @returns false if there are too few addresses, so that the order cannot be renewed. What it kept of the addresses to
 * give back goes back at the end of its grace
 */
export async function restoreAddresses(unit: Unit, order: OrderRow): Promise<boolean> {
  const { tx } = unit
  const held = [...new Set((await holdingsOf(tx, order.id)).flatMap(holding => holding.serverIds))]
  const left = await tx
    .select({ id: servers.id })
    .from(servers)
    .where(and(inArray(servers.id, held), eq(servers.status, 'given_up')))
    .orderBy(asc(servers.id))
  for (const { id } of left) await moveOffLostServer(unit, order, id)
  const lost = await countMissing(tx, order)
  if (lost <= 0) return true
  const missing = lost - (await keepPendingReturns(unit, order, lost))
  if (missing === 0) return true
  if ((await leaseMissing(unit, order, 'all')).leased === 0) return false
  await announceMove(unit, order.id, missing)
  return true
}

/**
 * An order was renewed. If it had expired, its proxies come back on the held addresses, with the same credentials. If
 * its time still runs, nothing happens. Agents that do not answer follow later.
 */
export async function reviveDelivery(unit: Unit, order: OrderRow): Promise<void> {
  if (order.state !== 'expired') return
  const revived = await reviveOrder(unit, order)
  // Their wait for the agents begins now.
  await unit.tx
    .update(proxies)
    .set({ updatedAt: unit.now })
    .where(and(eq(proxies.orderId, order.id), eq(proxies.state, 'pending')))
  await setOrderUsers(unit, revived, usersOf(order, await servedShares(unit.tx, order.id)))
}
