import { and, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { notifyAdmins } from '../../accounts/index.ts'
import { dropDesiredUser, removeDesiredUsers, setDesiredUsers } from '../../fleet/index.ts'
import { servers } from '../../fleet/tables.ts'
import {
  addressesOf,
  leasesOf,
  lockInventory,
  markKept,
  markReplaced,
  release,
  splitLease,
  splitByRanges,
  type LeaseShare
} from '../../inventory/index.ts'
import { failTask, isServed, note, taskStateOf, tellOfOrder, type OrderRow } from '../../orders/index.ts'
import { advance } from '../advance.ts'
import { holdingsOf, isRetired, retireProxies, sumOf } from '../holdings.ts'
import { leaseMore, type Amount, type Leased, type Place } from '../missing.ts'
import { servedShares, usersOf } from '../start.ts'
import { proxies } from '../tables.ts'

/** Why addresses of an order were replaced, for its history. */
export type MoveCause = 'rescue' | 'move' | 'given_up'

/** What an order holds on a server and is to keep. */
export async function sharesOn(db: Executor, orderId: number, serverId: number): Promise<LeaseShare[]> {
  return (await leasesOf(db, orderId)).filter(share => share.serverId === serverId && !share.replaced)
}

/**
 * Gives a locked, live order other addresses for those on one server; what it holds elsewhere stays. They work until the
 * others do, and go back to stock once their agent has confirmed: `advance` sees to it.
 * @param place where the others come from
 * @param only the leases that are replaced; by default all that it holds there
 * @param atOnce those that wait for the agent are taken off it now
 * @param amount of a part: those that wait are replaced before those that work
 * @returns how many were replaced, how many of these its customer had been given, and how many are left there
 */
export async function replaceOn(
  unit: Unit,
  order: OrderRow,
  serverId: number,
  {
    place,
    atOnce,
    cause,
    amount,
    only
  }: { place: Place; atOnce: boolean; cause: MoveCause; amount: Amount; only?: number[] }
): Promise<{ moved: number; given: number; left: number }> {
  const { tx } = unit
  const shares = (await sharesOn(tx, order.id, serverId)).filter(({ leaseId }) => only?.includes(leaseId) ?? true)
  const addresses = sumOf(shares, share => share.addresses)
  if (addresses === 0) return { moved: 0, given: 0, left: 0 }
  const to = await leaseMore(unit, order, addresses, place, amount)
  if (!to) return { moved: 0, given: 0, left: addresses }
  const held = await holdingsOf(tx, order.id)
  const worksOf = (leaseId: number) => held.find(holding => holding.leaseId === leaseId)?.live ?? 0
  const waitingFirst = shares.toSorted((a, b) => worksOf(a.leaseId) - worksOf(b.leaseId))
  const parts = await setApart(unit, order, serverId, waitingFirst, to.addresses)
  await markReplaced(tx, parts)
  await noteMove(unit, order.id, { from: serverId, to: to.serverIds, addresses: to.addresses, cause })
  const done = { moved: to.addresses, left: addresses - to.addresses }
  if (!atOnce) return { ...done, given: to.addresses }
  // What works there does so until the others do.
  const ofParts = inArray(proxies.leaseId, parts)
  const working = await tx.$count(proxies, and(ofParts, eq(proxies.state, 'live')))
  const given = await retireProxies(unit, order.id, and(ofParts, eq(proxies.state, 'pending')))
  // Other addresses of the order may be served there: its agent has to drop these before they go back to stock.
  const still = usersOf(order, await servedShares(tx, order.id)).filter(user => user.serverId === serverId)
  if (still.length > 0) await setDesiredUsers(unit, still)
  else await removeDesiredUsers(unit, order.id, [serverId])
  return { ...done, given: working + given }
}

/**
 * Takes what an order holds on a server that was given up: nobody asks the agent any more. An order that is served gets other
 * addresses as far as there are some, and else keeps what works and shows what is missing. Repeating it changes nothing.
 * @returns how many addresses stopped working
 */
export async function leaveGivenUp(unit: Unit, order: OrderRow, serverId: number): Promise<number> {
  const { tx } = unit
  const served = isServed(order.state)
  // It leases and releases in one transaction.
  await lockInventory(tx)
  const all = (await leasesOf(tx, order.id)).filter(share => share.serverId === serverId)
  const lost = sumOf(all, share => (share.replaced ? 0 : share.addresses))
  const parts = await setApart(unit, order, serverId, all)
  const worked = await retireProxies(unit, order.id, eq(proxies.serverId, serverId))
  await dropDesiredUser(unit, serverId, order.id)
  if (parts.length > 0) await release(tx, { leaseIds: parts })
  const to = served && lost > 0 ? await replaceLost(unit, order, lost, serverId) : null
  if (lost > 0)
    await noteMove(unit, order.id, { from: serverId, to: to?.serverIds ?? [], addresses: lost, cause: 'given_up' })
  await advance(unit, [order.id])
  if (served && lost > (to?.addresses ?? 0)) await tellAdmins(unit, serverId)
  if (served && worked > 0) await tellOfOrder(unit, 'proxies.changed', order)
  return worked
}

/** All that was lost elsewhere; else what was to go back is kept, and of what is missing then as much as there is. */
async function replaceLost(unit: Unit, order: OrderRow, lost: number, serverId: number): Promise<Leased | null> {
  const place = { groupId: order.serverGroupId, avoid: [serverId] }
  const all = await leaseMore(unit, order, lost, place, 'all')
  if (all) return all
  const kept = await keepReplaced(unit, order)
  return kept < lost ? leaseMore(unit, order, lost - kept, place, 'part') : null
}

/**
 * What was to replace addresses is lost, and there are too few others: those that still work are kept, as many as the order
 * has bought. A change of addresses that waited for the others has failed.
 * @returns how many
 */
async function keepReplaced(unit: Unit, order: OrderRow): Promise<number> {
  const { tx } = unit
  const held = await holdingsOf(tx, order.id)
  const room = order.quantity - sumOf(held, holding => (holding.replaced ? 0 : holding.addresses))
  const again: number[] = []
  let left = room
  for (const holding of held.filter(one => one.replaced && !isRetired(one))) {
    if (holding.addresses > left) continue
    again.push(holding.leaseId)
    left -= holding.addresses
  }
  await markKept(tx, again)
  if (order.task === 'change' && taskStateOf(order) === 'running') {
    // Those of the new ones that are not lost are kept, whether they work by now or not.
    const changed = held.some(holding => !holding.replaced)
    await failTask(unit, order, { code: 'out_of_stock' }, { changed })
  }
  return room - left
}

/** Once a day for a server, however many orders it is. */
async function tellAdmins(unit: Unit, serverId: number): Promise<void> {
  const name = (await serverNames(unit.tx, [serverId])).get(serverId) ?? ''
  await notifyAdmins(unit, {
    words: 'orders_lost',
    params: { server: name },
    key: `given-up:${serverId}:${unit.now.toISOString().slice(0, 10)}`
  })
}

/**
 * Makes what an order holds on a server leases of their own.
 * @param most no more than so many addresses of it: whole blocks
 * @returns those
 */
async function setApart(
  unit: Unit,
  order: Pick<OrderRow, 'id' | 'cartStep'>,
  serverId: number,
  shares: LeaseShare[],
  most = Infinity
): Promise<number[]> {
  const { tx } = unit
  const parts: number[] = []
  let left = most
  for (const { leaseId, addresses } of shares) {
    if (left <= 0) break
    const blocks = left < addresses ? left / order.cartStep : null
    const part = await splitLease(tx, leaseId, serverId, blocks)
    if (part === null) continue
    parts.push(part)
    left -= addresses
    if (part === leaseId) continue
    await followLease(unit, order.id, { leaseId, part })
  }
  return parts
}

/** What an order holds on a server in ranges that the agent refuses, as leases of its own. @returns those */
export async function setRefusedApart(unit: Unit, orderId: number, serverId: number): Promise<number[]> {
  const [server] = await unit.tx.select({ ranges: servers.refusedRanges }).from(servers).where(eq(servers.id, serverId))
  const parts: number[] = []
  for (const { leaseId } of await sharesOn(unit.tx, orderId, serverId)) {
    const part = await splitByRanges(unit.tx, leaseId, { serverId, ranges: server?.ranges ?? [] })
    if (part === null) continue
    parts.push(part)
    if (part !== leaseId) await followLease(unit, orderId, { leaseId, part })
  }
  return parts
}

/** A part of a lease became a lease of its own: so do its proxies. */
async function followLease(
  { tx }: Unit,
  orderId: number,
  { leaseId, part }: { leaseId: number; part: number }
): Promise<void> {
  for await (const page of addressesOf(tx, part)) {
    const ips = page.map(({ ip }) => ip)
    await tx
      .update(proxies)
      .set({ leaseId: part })
      .where(and(eq(proxies.orderId, orderId), eq(proxies.leaseId, leaseId), inArray(proxies.ip, ips)))
  }
}

async function noteMove(
  unit: Unit,
  orderId: number,
  { from, to, addresses, cause }: { from: number; to: number[]; addresses: number; cause: MoveCause }
): Promise<void> {
  const names = await serverNames(unit.tx, [from, ...to])
  await note(unit, orderId, 'moved', {
    cause,
    addresses,
    from: names.get(from),
    to: to.map(id => names.get(id)).join(', ') || null
  })
}

export async function serverNames(db: Executor, ids: number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .select({ id: servers.id, name: servers.name })
    .from(servers)
    .where(inArray(servers.id, [...new Set(ids)]))
  return new Map(rows.map(({ id, name }) => [id, name]))
}
