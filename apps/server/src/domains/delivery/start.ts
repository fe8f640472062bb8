import { eq, inArray } from 'drizzle-orm'
import type { Transaction } from '../../platform/db/client.ts'
import type { Shop } from '../../platform/shop.ts'
import { wantUsers } from '../fleet/index.ts'
import { servers } from '../fleet/tables.ts'
import { activate, addressesOf, leasesOf, reserve, type LeaseShare } from '../inventory/index.ts'
import { note, transition, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { proxies } from './tables.ts'

type Delivering = Pick<Shop, 'jobs' | 'now'>

export const OUT_OF_STOCK = 'Out of stock: the addresses were gone when the payment arrived'

/**
 * Starts the delivery of a locked order that is paid (or failed before): its reservation becomes active, or, where that
 * ran out, addresses are leased anew; its user is wanted on the agents. The order fails where there are no addresses.
 * @returns whether addresses are on their way
 */
export async function startDelivery(tx: Transaction, shop: Delivering, order: OrderRow): Promise<boolean> {
  let held = await leasesOf(tx, order.id)
  if (held.length === 0) {
    const lease = await reserve(tx, {
      orderId: order.id,
      groupId: order.serverGroupId,
      step: order.cartStep,
      rules: order.rules,
      quantity: order.quantity
    })
    if (!lease.ok) {
      if (order.state === 'paid') await transition(tx, order, 'fail', { failReason: OUT_OF_STOCK })
      else await tx.update(orders).set({ failReason: OUT_OF_STOCK }).where(eq(orders.id, order.id))
      return false
    }
    held = await leasesOf(tx, order.id)
  }
  await activate(tx, order.id)
  for (const leaseId of new Set(held.map(share => share.leaseId))) await createProxies(tx, order.id, leaseId)
  await wantUsers(tx, shop.jobs, usersOf(order, held))
  await transition(tx, order, 'start_delivery', { failReason: null })
  return true
}

/** One agent user for each server that holds addresses of the order. */
export function usersOf(order: Pick<OrderRow, 'id' | 'proxyUsername' | 'proxyPassword' | 'rules'>, held: LeaseShare[]) {
  const prefixes = new Map<number, string[]>()
  for (const share of held) {
    if (share.serverId !== null)
      prefixes.set(share.serverId, [...(prefixes.get(share.serverId) ?? []), ...share.prefixes])
  }
  return [...prefixes].map(([serverId, ranges]) => ({
    serverId,
    username: order.proxyUsername,
    orderId: order.id,
    password: order.proxyPassword,
    prefixes: ranges,
    rules: order.rules
  }))
}

/** Writes down a lease's addresses as proxies that wait for their agents. */
export async function createProxies(tx: Transaction, orderId: number, leaseId: number): Promise<void> {
  const ports = new Map<number, number>()
  let count = 0
  for await (const page of addressesOf(tx, leaseId)) {
    const unknown = [...new Set(page.map(address => address.serverId))].filter(id => id !== null && !ports.has(id))
    if (unknown.length > 0) {
      const rows = await tx
        .select({ id: servers.id, port: servers.proxyPort })
        .from(servers)
        .where(inArray(servers.id, unknown as number[]))
      for (const row of rows) ports.set(row.id, row.port)
    }
    const values = page.flatMap(({ ip, serverId }) =>
      serverId === null ? [] : [{ orderId, leaseId, serverId, ip, port: ports.get(serverId) ?? 3128 }]
    )
    if (values.length > 0) await tx.insert(proxies).values(values)
    count += values.length
  }
  await note(tx, orderId, 'leased', { lease: leaseId, addresses: count })
}
