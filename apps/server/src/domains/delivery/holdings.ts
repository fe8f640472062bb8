import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, eq, inArray, ne, sql } from '../../infra/db/drizzle.ts'
import {
  type HeldLease,
  type LeaseOnServer,
  addressesOf,
  heldLeases,
  markKept,
  splitLease
} from '../inventory/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { servers } from '../servers/tables.ts'
import { servedShares } from './start.ts'
import { proxies } from './tables.ts'

/** `missingAmong` of what the order holds now. */
export async function countMissing(db: Executor, order: Pick<OrderRow, 'id' | 'quantity'>): Promise<number> {
  return missingAmong(order, await holdingsOf(db, order.id))
}

/** A lease of an order, with how many of its proxies wait for their agents or work. */
export type OrderLease = HeldLease & { pending: number; live: number }

/** What an order holds, by lease. */
export async function holdingsOf(db: Executor, orderId: number): Promise<OrderLease[]> {
  const leases = await heldLeases(db, orderId)
  const counts = await db
    .select({
      leaseId: proxies.leaseId,
      pending: sql<number>`(count(*) filter (where ${proxies.state} = 'pending'))::int`,
      live: sql<number>`(count(*) filter (where ${proxies.state} = 'live'))::int`
    })
    .from(proxies)
    .where(and(eq(proxies.orderId, orderId), ne(proxies.state, 'retired')))
    .groupBy(proxies.leaseId)
  return leases.map(lease => {
    const found = counts.find(({ leaseId }) => leaseId === lease.leaseId)
    return { ...lease, pending: found?.pending ?? 0, live: found?.live ?? 0 }
  })
}

/** The customer no longer has any proxy of this lease. */
export const isRetired = ({ pending, live }: Pick<OrderLease, 'pending' | 'live'>): boolean => pending + live === 0

/** How many addresses an order lacks, because it does not hold them or is to give them back. */
export const missingAmong = ({ quantity }: Pick<OrderRow, 'quantity'>, held: readonly OrderLease[]): number =>
  quantity - sumOf(held, holding => (holding.replaced ? 0 : holding.addresses))

export const sumOf = <T>(list: readonly T[], of: (one: T) => number): number =>
  list.reduce((sum, one) => sum + of(one), 0)

/** Retires proxies of orders: all, or those of a condition. @returns how many of them had worked */
export async function retireProxies({ tx, now }: Unit, of: number | number[], which?: SQL): Promise<number> {
  const retired = await tx
    .update(proxies)
    .set({ state: 'retired', updatedAt: now })
    .where(and(inArray(proxies.orderId, [of].flat()), ne(proxies.state, 'retired'), which))
    .returning({ liveAt: proxies.liveAt })
  return retired.filter(({ liveAt }) => liveAt !== null).length
}

/**
 * Makes what an order holds on a server leases of their own.
 * @param most at most this many addresses, in whole blocks
 * @returns those leases
 */
export async function splitOff(
  unit: Unit,
  order: Pick<OrderRow, 'id' | 'cartStep'>,
  serverId: number,
  shares: LeaseOnServer[],
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
    await moveProxiesToLease(unit, order.id, { leaseId, part })
  }
  return parts
}

/** Moves the proxies of a part of a lease to the lease that the part became. */
export async function moveProxiesToLease(
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

/**
 * An order that lacks addresses keeps as many as it lacks of those that it was to give back. The rest still goes back.
 * @param lost how many it lacks
 * @returns how many it keeps, of those that its customer still has
 */
export async function keepPendingReturns(unit: Unit, order: OrderRow, lost: number): Promise<number> {
  const { tx } = unit
  const kept: number[] = []
  let left = lost
  for (const { serverId, share } of await bestFirst(tx, order.id)) {
    if (left <= 0) break
    const parts = await splitOff(unit, order, serverId, [share], left)
    if (parts.length === 0) continue
    kept.push(...parts)
    left -= Math.min(left, share.addresses)
  }
  await markKept(tx, kept)
  return lost - left
}

/** What an order is to give back, on servers that answer first, then on servers that sell. */
async function bestFirst(db: Executor, orderId: number): Promise<{ serverId: number; share: LeaseOnServer }[]> {
  const replaced = (await servedShares(db, orderId)).filter(share => share.replaced)
  // Not on a server that was given up, because its run takes that from the order.
  const rows = await db
    .select({
      id: servers.id,
      answers: servers.connected,
      sells: eq(servers.status, 'active').mapWith(Boolean)
    })
    .from(servers)
    .where(
      and(
        inArray(
          servers.id,
          replaced.flatMap(({ serverId }) => serverId ?? [])
        ),
        ne(servers.status, 'given_up')
      )
    )
  const fits = new Map(rows.map(({ id, answers, sells }) => [id, (answers ? 2 : 0) + (sells ? 1 : 0)]))
  return replaced
    .flatMap(share => (share.serverId !== null && fits.has(share.serverId) ? { serverId: share.serverId, share } : []))
    .toSorted((a, b) => (fits.get(b.serverId) ?? 0) - (fits.get(a.serverId) ?? 0))
}
