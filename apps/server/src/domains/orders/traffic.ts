import { type OrderTraffic, refuse, type Traffic, type TrafficStep } from '@netlet/contract'
import { and, eq, inArray, isNotNull, isNull, sql } from '../../infra/db/drizzle.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { readOrdersTraffic, type TrafficPorts } from '../traffic/index.ts'
import type { QuotaPort } from '../servers/index.ts'
import { orderTraffic } from '../servers/tables.ts'
import { chunks, leaseBlocks, leases } from '../inventory/tables.ts'
import { enqueueMail } from '../mail/index.ts'
import { orderMail } from './order-mail.ts'
import { orders } from './tables.ts'

type Query = { by: TrafficStep; last: number; now: Date }

/** An order's traffic and its limits. @param userId the order's user; null: any user */
export async function trafficOfOrder(
  db: Executor,
  { id, userId }: { id: number; userId: number | null },
  query: Query
): Promise<Result<OrderTraffic>> {
  const own = userId === null ? undefined : eq(orders.userId, userId)
  const [found] = await db
    .select({ limits: orderTraffic })
    .from(orders)
    .leftJoin(orderTraffic, eq(orderTraffic.orderId, orders.id))
    .where(and(eq(orders.id, id), isNull(orders.deletedAt), isNotNull(orders.paidAt), own))
  if (!found) return refuse('not_found')
  const { limits } = found
  return ok({
    ...(await readOrdersTraffic(db, orderId => sql`${orderId} = ${id}`, query)),
    used: limits?.used ?? 0,
    allowed: limits?.allowed ?? null,
    mbps: limits?.mbps ?? null,
    connections: limits?.connections ?? null,
    connections_per_second: limits?.connectionsPerSecond ?? null
  })
}

/** The traffic of all orders of a user, including deleted ones. */
export const trafficOfUser = (db: Executor, userId: number, query: Query): Promise<Traffic> =>
  readOrdersTraffic(
    db,
    orderId => sql`${orderId} = any(array(select id from ${orders} where ${orders.userId} = ${userId}))`,
    query
  )

/**
 * The orders that proxy user names belong to, among those that held an address of the server. Names are never reused.
 */
const ordersOf: TrafficPorts['ordersOf'] = async (db, usernames, { serverId, since }) => {
  const found = await db
    .select({ id: orders.id, username: orders.proxyUsername })
    .from(orders)
    .where(
      and(
        inArray(orders.proxyUsername, usernames),
        sql`exists (select 1 from ${leases} join ${leaseBlocks} on ${leaseBlocks.leaseId} = ${leases.id}
          join ${chunks} on ${chunks.id} = ${leaseBlocks.chunkId}
          where ${leases.orderId} = ${orders.id} and ${chunks.serverId} = ${serverId}
            and (${leaseBlocks.releasedAt} is null or ${leaseBlocks.releasedAt} > ${since.toISOString()}::timestamptz))`
      )
    )
  return new Map(found.map(({ id, username }) => [username, id]))
}

/** What the counting of traffic needs from orders. */
export const trafficPorts = ({ config }: Pick<AppContext, 'config'>): TrafficPorts => ({
  ordersOf,
  notifyQuota: notifyQuota(config.publicUrl)
})

const notifyQuota =
  (publicUrl: string): QuotaPort =>
  async (unit, orderId, { share, used, allowed }) => {
    const [order] = await unit.tx
      .select({ userId: orders.userId, expiredAt: orders.expiredAt })
      .from(orders)
      .where(eq(orders.id, orderId))
    if (order) unit.publish('order', orderId, order.userId)
    const mail = await orderMail(unit.tx, orderId)
    if (!mail) return
    enqueueMail(unit, {
      ...mail,
      template: 'traffic-used',
      data: { ...mail.data, share, used, allowed, renew_url: `${publicUrl}/dashboard/index/proxies?renew=${orderId}` },
      // Two terms of one order may have the same allowance.
      key: `traffic:${orderId}:${share}:${allowed}:${order?.expiredAt?.getTime() ?? 0}`
    })
  }
