import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { setDesiredUsers } from '../fleet/index.ts'
import { activate, leasesOf, reserve } from '../inventory/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { holdingsOf, sumOf } from './holdings.ts'
import { createProxies, servedShares, usersOf } from './start.ts'

/** Where an order's next addresses come from. */
export type Place = { groupId: number; avoid: number[] }

/**
 * Leases what a locked order does not hold any more, since a server was given up. The caller lets the order advance.
 * @returns false where there are too few addresses; true also where nothing is missing
 */
export async function leaseMissing(unit: Unit, order: OrderRow): Promise<boolean> {
  const missing = await missingOf(unit.tx, order)
  if (missing <= 0) return true
  return (await leaseMore(unit, order, missing, { groupId: order.serverGroupId, avoid: [] })) !== null
}

/** How many of its addresses an order does not hold any more. */
export async function missingOf(db: Executor, order: Pick<OrderRow, 'id' | 'quantity'>): Promise<number> {
  const held = await holdingsOf(db, order.id)
  return order.quantity - sumOf(held, holding => (holding.replaced ? 0 : holding.addresses))
}

/**
 * Leases more addresses for a locked, live order and wants them on their agents.
 * @returns the servers that they are on; null where there are too few
 */
export async function leaseMore(
  unit: Unit,
  order: OrderRow,
  quantity: number,
  { groupId, avoid }: Place
): Promise<number[] | null> {
  const { tx } = unit
  const { id: orderId, cartStep: step, rules } = order
  const lease = await reserve(tx, { orderId, groupId, step, rules, quantity, avoid })
  if (!lease.ok) return null
  await activate(tx, orderId)
  await createProxies(unit, orderId, lease.leaseId)
  const added = (await leasesOf(tx, orderId)).filter(share => share.leaseId === lease.leaseId)
  const serverIds = added.flatMap(share => share.serverId ?? [])
  const users = usersOf(order, await servedShares(tx, orderId))
  await setDesiredUsers(
    unit,
    users.filter(user => serverIds.includes(user.serverId))
  )
  return serverIds
}
