import { and, eq, inArray, ne, sql, type SQL } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { heldLeases, type HeldLease } from '../inventory/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { proxies } from './tables.ts'

/** A lease of an order, with how many of its proxies wait for their agents or work. */
export type Holding = HeldLease & { pending: number; live: number }

/** What an order holds, by lease. */
export async function holdingsOf(db: Executor, orderId: number): Promise<Holding[]> {
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

/** Its customer no longer has it. */
export const isRetired = ({ pending, live }: Pick<Holding, 'pending' | 'live'>): boolean => pending + live === 0

/** How many addresses an order lacks, because it does not hold them or is to give them back. */
export const missingCount = ({ quantity }: Pick<OrderRow, 'quantity'>, held: readonly Holding[]): number =>
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
