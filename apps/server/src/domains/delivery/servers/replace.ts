import { and, eq, inArray } from '../../../infra/db/drizzle.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { notifyAdmins } from '../../accounts/index.ts'
import { dropDesiredUser } from '../../convergence/index.ts'
import { removeDesiredUsers } from '../../servers/index.ts'
import { servers } from '../../servers/tables.ts'
import {
  leasesOf,
  lockInventory,
  markReplaced,
  release,
  splitByRanges,
  type LeaseOnServer
} from '../../inventory/index.ts'
import { failTask, isServed, recordEvent, taskStateOf, emitOrderEvent, type OrderRow } from '../../orders/index.ts'
import { advance } from '../advance.ts'
import {
  moveProxiesToLease,
  holdingsOf,
  keepPendingReturns,
  countMissing,
  retireProxies,
  splitOff,
  sumOf
} from '../holdings.ts'
import { type Extent, type LeaseSource, type Leased, leaseMore } from '../lease-more.ts'
import { servedShares, usersOf, setOrderUsers } from '../start.ts'
import { proxies } from '../tables.ts'

/** Why addresses of an order were replaced, for its history. */
export type MoveCause = 'rescue' | 'move' | 'given_up'

/** What an order holds on a server and keeps. */
export async function sharesOnServer(db: Executor, orderId: number, serverId: number): Promise<LeaseOnServer[]> {
  return (await leasesOf(db, orderId)).filter(share => share.serverId === serverId && !share.replaced)
}

/**
 * Gives a locked, live order other addresses for those on one server; what it holds elsewhere stays. The old ones work
 * until the new ones do, and return to stock once their agent has confirmed (see `advance`).
 * @param place where the new ones come from
 * @param only the leases to replace; by default all that it holds there
 * @param atOnce takes those that wait for the agent off it now
 * @param extent for a part, those that wait are replaced before those that work
 * @returns how many were replaced, how many of these the customer had been given, and how many are left there
 */
export async function replaceOnServer(
  unit: Unit,
  order: OrderRow,
  serverId: number,
  {
    place,
    atOnce,
    cause,
    extent,
    only
  }: { place: LeaseSource; atOnce: boolean; cause: MoveCause; extent: Extent; only?: number[] }
): Promise<{ moved: number; given: number; left: number }> {
  const { tx } = unit
  const shares = (await sharesOnServer(tx, order.id, serverId)).filter(({ leaseId }) => only?.includes(leaseId) ?? true)
  const addresses = sumOf(shares, share => share.addresses)
  if (addresses === 0) return { moved: 0, given: 0, left: 0 }
  const to = await leaseMore(unit, order, addresses, place, extent)
  if (!to) return { moved: 0, given: 0, left: addresses }
  const held = await holdingsOf(tx, order.id)
  const worksOf = (leaseId: number) => held.find(holding => holding.leaseId === leaseId)?.live ?? 0
  const waitingFirst = shares.toSorted((a, b) => worksOf(a.leaseId) - worksOf(b.leaseId))
  const parts = await splitOff(unit, order, serverId, waitingFirst, to.addresses)
  await markReplaced(tx, parts)
  await recordMove(unit, order.id, { from: serverId, to: to.serverIds, addresses: to.addresses, cause })
  const done = { moved: to.addresses, left: addresses - to.addresses }
  if (!atOnce) return { ...done, given: to.addresses }
  // What works there stays until the new addresses work.
  const ofParts = inArray(proxies.leaseId, parts)
  const working = await tx.$count(proxies, and(ofParts, eq(proxies.state, 'live')))
  const given = await retireProxies(unit, order.id, and(ofParts, eq(proxies.state, 'pending')))
  // If the agent serves other addresses of the order, it must drop these before they return to stock.
  const still = usersOf(order, await servedShares(tx, order.id)).filter(user => user.serverId === serverId)
  if (still.length > 0) await setOrderUsers(unit, order, still)
  else await removeDesiredUsers(unit, order.id, [serverId])
  return { ...done, given: working + given }
}

/**
 * Takes what an order holds off a server that was given up, without asking its agent. A served order gets other
 * addresses if there are some. Otherwise it keeps what works and shows what is missing. Repeating it changes nothing.
 * @returns how many addresses stopped working
 */
export async function moveOffLostServer(unit: Unit, order: OrderRow, serverId: number): Promise<number> {
  const { tx } = unit
  const served = isServed(order.state)
  // It leases and releases in one transaction.
  await lockInventory(tx)
  const all = (await leasesOf(tx, order.id)).filter(share => share.serverId === serverId)
  const lost = sumOf(all, share => (share.replaced ? 0 : share.addresses))
  const parts = await splitOff(unit, order, serverId, all)
  const worked = await retireProxies(unit, order.id, eq(proxies.serverId, serverId))
  await dropDesiredUser(unit, serverId, order.id)
  if (parts.length > 0) await release(tx, { leaseIds: parts })
  const { to, kept } = served && lost > 0 ? await replaceLost(unit, order, lost, serverId) : { to: null, kept: 0 }
  if (lost > 0)
    await recordMove(unit, order.id, {
      from: serverId,
      to: to?.serverIds ?? [],
      addresses: lost,
      kept,
      cause: 'given_up'
    })
  await advance(unit, [order.id])
  if (served && lost > 0 && (await countMissing(tx, order)) > 0) await notifyOfShortage(unit, serverId)
  if (served && worked > 0) await emitOrderEvent(unit, 'proxies.changed', order)
  return worked
}

/**
 * Leases all lost addresses elsewhere, or keeps those that were to go back and leases as many as it can.
 * @returns what was leased, and how many are kept
 */
async function replaceLost(
  unit: Unit,
  order: OrderRow,
  lost: number,
  serverId: number
): Promise<{ to: Leased | null; kept: number }> {
  const place = { groupId: order.serverGroupId, avoid: [serverId] }
  const all = await leaseMore(unit, order, lost, place, 'all')
  if (all) return { to: all, kept: 0 }
  await failChange(unit, order)
  const kept = await keepPendingReturns(unit, order, await countMissing(unit.tx, order))
  return { to: kept < lost ? await leaseMore(unit, order, lost - kept, place, 'part') : null, kept }
}

/** Fails a change of addresses, because its new addresses are lost and no longer replace the old ones. */
async function failChange(unit: Unit, order: OrderRow): Promise<void> {
  if (order.task !== 'change' || taskStateOf(order) !== 'running') return
  // The other new ones are kept, even if they do not work yet.
  const changed = (await holdingsOf(unit.tx, order.id)).some(holding => !holding.replaced)
  await failTask(unit, order, { code: 'out_of_stock' }, { changed })
}

/** Once a day for each server, for any number of orders. */
async function notifyOfShortage(unit: Unit, serverId: number): Promise<void> {
  const name = (await serverNames(unit.tx, [serverId])).get(serverId) ?? ''
  await notifyAdmins(unit, {
    words: 'orders_lost',
    params: { server: name },
    key: `given-up:${serverId}:${unit.now.toISOString().slice(0, 10)}`
  })
}

/** Makes what an order holds in ranges that the agent refuses leases of their own. @returns those leases */
export async function splitOffRefused(unit: Unit, orderId: number, serverId: number): Promise<number[]> {
  const [server] = await unit.tx.select({ ranges: servers.refusedRanges }).from(servers).where(eq(servers.id, serverId))
  const parts: number[] = []
  for (const { leaseId } of await sharesOnServer(unit.tx, orderId, serverId)) {
    const part = await splitByRanges(unit.tx, leaseId, { serverId, ranges: server?.ranges ?? [] })
    if (part === null) continue
    parts.push(part)
    if (part !== leaseId) await moveProxiesToLease(unit, orderId, { leaseId, part })
  }
  return parts
}

async function recordMove(
  unit: Unit,
  orderId: number,
  {
    from,
    to,
    addresses,
    kept = 0,
    cause
  }: { from: number; to: number[]; addresses: number; kept?: number; cause: MoveCause }
): Promise<void> {
  const names = await serverNames(unit.tx, [from, ...to])
  await recordEvent(unit, orderId, 'moved', {
    cause,
    addresses,
    ...(kept > 0 ? { kept } : {}),
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
