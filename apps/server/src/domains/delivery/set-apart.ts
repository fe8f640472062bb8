import { and, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { addressesOf, splitLease, type LeaseShare } from '../inventory/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { proxies } from './tables.ts'

/**
 * Makes what an order holds on a server leases of their own.
 * @param most at most this many addresses, in whole blocks
 * @returns those leases
 */
export async function setApart(
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

/** Moves the proxies of a part of a lease to the lease that the part became. */
export async function followLease(
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
