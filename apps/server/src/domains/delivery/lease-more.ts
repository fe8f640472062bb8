import type { Unit } from '../../infra/command.ts'
import { activate, leasesOf, reserve, reservePart, reserveNotHeldSince } from '../inventory/index.ts'
import { type OrderRow, addDays } from '../orders/index.ts'
import { countMissing } from './holdings.ts'
import { createProxies, reservationOf, servedShares, setOrderUsers, usersOf } from './start.ts'

/** Where an order's next addresses come from. */
export type LeaseSource = { groupId: number; avoid: number[] }

/** All or nothing (a purchase, a renewal), or as many whole blocks as there are. */
export type Extent = 'all' | 'part'

/**
 * Leases what a locked order lost with a server that was given up. The caller lets the order advance.
 * @returns how many addresses it leased, and how many are still missing
 */
export async function leaseMissing(
  unit: Unit,
  order: OrderRow,
  extent: Extent
): Promise<{ leased: number; missing: number }> {
  const missing = await countMissing(unit.tx, order)
  if (missing <= 0) return { leased: 0, missing: 0 }
  const found = await leaseMore(unit, order, missing, { groupId: order.serverGroupId, avoid: [] }, extent)
  const leased = found?.addresses ?? 0
  return { leased, missing: missing - leased }
}

/** Addresses that an order got, and their servers. */
export type Leased = { addresses: number; serverIds: number[] }

/**
 * Leases more addresses for a locked, live order and wants them on their agents.
 * @returns null if there are too few, or (for a part) none
 */
export async function leaseMore(
  unit: Unit,
  order: OrderRow,
  quantity: number,
  { groupId, avoid }: LeaseSource,
  extent: Extent
): Promise<Leased | null> {
  const { tx } = unit
  const wanted = { ...reservationOf(order), groupId, quantity, avoid }
  // During a change, avoid what the customer has just given away, if there are other addresses.
  const other =
    order.task === 'change' ? await reserveNotHeldSince(tx, wanted, addDays(unit.now, -order.proxyTime)) : null
  const all = other?.ok ? other : await reserve(tx, wanted)
  const lease = all.ok ? { leaseId: all.leaseId, addresses: quantity } : null
  const found = lease ?? (extent === 'part' ? await reservePart(tx, wanted) : null)
  if (!found) return null
  await activate(tx, order.id)
  await createProxies(unit, order.id, found.leaseId)
  const added = (await leasesOf(tx, order.id)).filter(share => share.leaseId === found.leaseId)
  const serverIds = added.flatMap(share => share.serverId ?? [])
  const users = usersOf(order, await servedShares(tx, order.id))
  await setOrderUsers(
    unit,
    order,
    users.filter(user => serverIds.includes(user.serverId))
  )
  return { addresses: found.addresses, serverIds }
}
