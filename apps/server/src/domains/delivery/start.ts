import { and, eq, ne } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { activate, addressesOf, leasesOf, reserve, wholeUnits, type LeaseOnServer } from '../inventory/index.ts'
import { type OrderRow, emitOrderEvent, failOrder, recordEvent, startDelivering } from '../orders/index.ts'
import { lockEarners } from '../rewards/index.ts'
import { proxies } from './tables.ts'
import { setDesiredUsers } from '../convergence/index.ts'

/**
 * Sets the users of a locked order that these agents should hold. If the order loses listed clients by this, emits
 * `credentials.changed`.
 */
export async function setOrderUsers(
  unit: Unit,
  order: OrderRow,
  users: Parameters<typeof setDesiredUsers>[1]
): Promise<void> {
  const shortened = await setDesiredUsers(unit, users)
  if (shortened.length > 0) await emitOrderEvent(unit, 'credentials.changed', order, { changed: 'client_access' })
}

/**
 * Starts the delivery of a locked order that is paid, or failed before. Its reservation becomes active; if that ran
 * out, addresses are leased again. Its user is then wanted on the agents. Without addresses the order fails.
 * @returns whether addresses are on their way
 */
export async function startDelivery(unit: Unit, order: OrderRow): Promise<boolean> {
  const { tx } = unit
  if (order.state === 'failed') await lockEarners(tx, order.userId)
  let held = await leasesOf(tx, order.id)
  if (held.length === 0) {
    const lease = await reserve(tx, reservationOf(order))
    if (!lease.ok) {
      await failOrder(unit, order, { code: 'out_of_stock' })
      return false
    }
    held = await leasesOf(tx, order.id)
  }
  for (const leaseId of new Set(held.map(share => share.leaseId))) await createProxies(unit, order.id, leaseId)
  const started = await startDelivering(unit, order)
  // Late, because it locks the rows of the ranges: other deliveries from them wait until we commit.
  await activate(tx, order.id)
  await setOrderUsers(unit, started, usersOf(order, held))
  return true
}

/** A request to the inventory for all addresses of an order. */
export const reservationOf = (order: OrderRow) => ({
  orderId: order.id,
  groupId: order.serverGroupId,
  step: order.cartStep,
  rules: order.rules,
  quantity: order.quantity,
  family: order.addressFamily
})

/** What an order's agents must serve: the shares whose proxies are not retired. */
export async function servedShares(db: Executor, orderId: number): Promise<LeaseOnServer[]> {
  const served = await db
    .selectDistinct({ leaseId: proxies.leaseId })
    .from(proxies)
    .where(and(eq(proxies.orderId, orderId), ne(proxies.state, 'retired')))
  return (await leasesOf(db, orderId)).filter(share => served.some(({ leaseId }) => leaseId === share.leaseId))
}

/** One agent user for each server that holds addresses of the order. */
export function usersOf(
  order: Pick<OrderRow, 'id' | 'proxyUsername' | 'proxyPassword' | 'rules' | 'egress'>,
  held: LeaseOnServer[]
) {
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
    prefixes: order.egress === 'fixed' ? ranges : wholeUnits(ranges),
    rules: order.rules,
    egress: order.egress
  }))
}

/** Stores a lease's addresses as proxies that wait for their agents. */
export async function createProxies(unit: Unit, orderId: number, leaseId: number): Promise<void> {
  let count = 0
  const updatedAt = unit.now
  for await (const page of addressesOf(unit.tx, leaseId)) {
    const values = page.flatMap(({ ip, serverId }) =>
      serverId === null ? [] : [{ orderId, leaseId, serverId, ip, createdAt: updatedAt, updatedAt }]
    )
    if (values.length > 0) await unit.tx.insert(proxies).values(values)
    count += values.length
  }
  await recordEvent(unit, orderId, 'leased', { lease: leaseId, addresses: count })
}
