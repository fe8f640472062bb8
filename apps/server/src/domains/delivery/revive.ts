import { and, asc, eq, inArray } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { leasesOf } from '../inventory/index.ts'
import { reviveOrder, type OrderRow } from '../orders/index.ts'
import { servers } from '../servers/tables.ts'
import { holdingsOf, keepPendingReturns, countMissing } from './holdings.ts'
import { leaseMissing } from './lease-more.ts'
import { moveOffLostServer } from './servers/replace.ts'
import { servedShares, usersOf, setOrderUsers } from './start.ts'
import { proxies } from './tables.ts'

/**
 * Prepares a locked, expired order for its revival. It drops what the order held on servers that were given up, and
 * leases again what it lost, unless it still holds addresses that it was to give back. Repeating it changes nothing.
 * @returns how many of its addresses are new; null if there are too few, so that the order cannot be revived. What it
 * kept of the addresses to give back goes back at the end of its grace
 */
export async function restoreAddresses(unit: Unit, order: OrderRow): Promise<number | null> {
  const { tx } = unit
  const held = [...new Set((await holdingsOf(tx, order.id)).flatMap(holding => holding.serverIds))]
  const left = await tx
    .select({ id: servers.id })
    .from(servers)
    .where(and(inArray(servers.id, held), eq(servers.status, 'given_up')))
    .orderBy(asc(servers.id))
  for (const { id } of left) await moveOffLostServer(unit, order, id)
  const lost = await countMissing(tx, order)
  const missing = lost > 0 ? lost - (await keepPendingReturns(unit, order, lost)) : 0
  if (missing > 0 && (await leaseMissing(unit, order, 'all')).leased === 0) return null
  // After its grace it holds addresses until their agents have dropped it.
  const kept = (await leasesOf(tx, order.id)).flatMap(({ replaced, leaseId }) => (replaced ? [] : leaseId))
  await tx
    .update(proxies)
    .set({ state: 'pending' })
    .where(and(eq(proxies.orderId, order.id), inArray(proxies.leaseId, kept), eq(proxies.state, 'retired')))
  return missing
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
