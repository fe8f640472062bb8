import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { reviveOrder, type OrderRow } from '../orders/index.ts'
import { servers } from '../fleet/tables.ts'
import { holdingsOf } from './holdings.ts'
import { keepReplaced } from './keep-replaced.ts'
import { leaseMissing, missingOf } from './missing.ts'
import { announceMove } from './servers/announce-move.ts'
import { leaveGivenUp } from './servers/replace.ts'
import { servedShares, usersOf } from './start.ts'
import { proxies } from './tables.ts'
import { wantUsers } from './want-users.ts'

/**
 * Readies a locked, expired order for a renewal in its grace: what it held on servers that were given up is no use to it,
 * and what it lost is leased again, unless it was to give others back that are held for it still. Its customer is told of
 * addresses that changed. Repeating it changes nothing.
 * @returns false where there are too few addresses: the order cannot be renewed. Those that it kept of what it was to give back
 * go back at the end of its grace
 */
export async function restoreAddresses(unit: Unit, order: OrderRow): Promise<boolean> {
  const { tx } = unit
  const held = [...new Set((await holdingsOf(tx, order.id)).flatMap(holding => holding.serverIds))]
  const left = await tx
    .select({ id: servers.id })
    .from(servers)
    .where(and(inArray(servers.id, held), eq(servers.status, 'given_up')))
    .orderBy(asc(servers.id))
  for (const { id } of left) await leaveGivenUp(unit, order, id)
  const lost = await missingOf(tx, order)
  if (lost <= 0) return true
  const missing = lost - (await keepReplaced(unit, order, lost))
  if (missing === 0) return true
  if ((await leaseMissing(unit, order, 'all')).leased === 0) return false
  await announceMove(unit, order.id, missing)
  return true
}

/**
 * An order was renewed: where it had expired, its proxies come back on the addresses that were held for it, with the
 * credentials that they had. Does nothing for one whose time still runs. Agents that do not answer follow later.
 */
export async function reviveDelivery(unit: Unit, order: OrderRow): Promise<void> {
  if (order.state !== 'expired') return
  const revived = await reviveOrder(unit, order)
  // They wait for their agents from now on.
  await unit.tx
    .update(proxies)
    .set({ updatedAt: unit.now })
    .where(and(eq(proxies.orderId, order.id), eq(proxies.state, 'pending')))
  await wantUsers(unit, revived, usersOf(order, await servedShares(unit.tx, order.id)))
}
