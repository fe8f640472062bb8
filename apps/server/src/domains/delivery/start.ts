import { withUnit } from '../../infra/legacy-unit.ts'
import { and, eq, inArray, ne } from 'drizzle-orm'
import { DAY } from '../../infra/clock.ts'
import type { Transaction } from '../../infra/db/client.ts'
import type { Sender } from '../../infra/jobs.ts'
import type { AppContext } from '../../infra/context.ts'
import { wantUsers } from '../fleet/index.ts'
import { servers } from '../fleet/tables.ts'
import { activate, addressesOf, leasesOf, reserve, type LeaseShare } from '../inventory/index.ts'
import { note, transition, type OrderRow } from '../orders/index.ts'
import { orders, payments } from '../orders/tables.ts'
import { grantForPayment, lockEarners } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { sendLast } from './send-last.ts'
import { proxies } from './tables.ts'

export type Delivering = Pick<AppContext, 'now' | 'secrets'> & { jobs: Sender }

export const OUT_OF_STOCK = 'Out of stock: the addresses were gone when the payment arrived'

/**
 * Starts the delivery of a locked order that is paid (or failed before): its reservation becomes active, or, where that
 * ran out, addresses are leased anew; its user is wanted on the agents. The order fails where there are no addresses.
 * @returns whether addresses are on their way
 */
export async function startDelivery(tx: Transaction, ctx: Delivering, order: OrderRow): Promise<boolean> {
  if (order.state === 'failed') await lockEarners(tx, order.userId)
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
      const failing = { failReason: OUT_OF_STOCK, expiredAt: null }
      if (order.state === 'paid') await transition(tx, order, 'fail', failing)
      else await tx.update(orders).set(failing).where(eq(orders.id, order.id))
      return false
    }
    held = await leasesOf(tx, order.id)
  }
  await activate(tx, order.id)
  for (const leaseId of new Set(held.map(share => share.leaseId))) await createProxies(tx, order.id, leaseId)
  // What was paid for is the time of use: while an order waits for an administrator it does not run.
  const expiredAt = order.expiredAt ?? new Date(ctx.now().getTime() + order.proxyTime * DAY)
  await transition(tx, order, 'start_delivery', { failReason: null, expiredAt })
  if (order.state === 'failed') await acceptPayment(tx, ctx, order)
  const jobs = sendLast(ctx.jobs)
  await wantUsers(tx, jobs, usersOf(order, held))
  await jobs.flush(tx)
  return true
}

/** An administrator delivers in spite of too little money: the payment counts now, and earns what payments earn. */
async function acceptPayment(tx: Transaction, ctx: Delivering, order: OrderRow): Promise<void> {
  const { platformOrderId, payAmount } = order
  if (!platformOrderId || !payAmount) return
  await tx
    .update(payments)
    .set({ accepted: true })
    .where(and(eq(payments.orderId, order.id), eq(payments.platformOrderId, platformOrderId)))
  // The same cause as at the payment's settlement: what was granted then is not granted again.
  await withUnit(tx, ctx.jobs, async unit =>
    grantForPayment(unit, {
      orderId: order.id,
      userId: order.userId,
      amount: payAmount,
      settings: await readSettings(tx, ctx.secrets),
      causeKey: `payment:${platformOrderId}`
    })
  )
}

/** What of its addresses an order's agents are to serve: all that it holds but those that it is giving back. */
export async function servedShares(tx: Transaction, orderId: number): Promise<LeaseShare[]> {
  const served = await tx
    .selectDistinct({ leaseId: proxies.leaseId })
    .from(proxies)
    .where(and(eq(proxies.orderId, orderId), ne(proxies.state, 'retired')))
  return (await leasesOf(tx, orderId)).filter(share => served.some(({ leaseId }) => leaseId === share.leaseId))
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
