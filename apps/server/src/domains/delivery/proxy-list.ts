import { refuse, type Proxy } from '@netlet/contract'
import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { servers } from '../fleet/tables.ts'
import { findOrder } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { proxies } from './tables.ts'

const host = sql<string>`host(${proxies.ip})`

/** A page of an order's live proxies with the order itself. `userId` null: anyone's order. */
export async function proxyDetail(
  db: Executor,
  orderId: number,
  userId: number | null,
  { limit, offset }: { limit: number; offset: number },
  now: Date
) {
  const order = await findOrder(db, orderId, userId, now)
  if (!order.ok) return order
  const live = and(eq(proxies.orderId, orderId), eq(proxies.state, 'live'))
  const [rows, total] = await Promise.all([
    db
      .select({
        proxy: proxies,
        ip: host,
        port: servers.proxyPort,
        username: orders.proxyUsername,
        password: orders.proxyPassword
      })
      .from(proxies)
      .innerJoin(orders, eq(orders.id, proxies.orderId))
      .innerJoin(servers, eq(servers.id, proxies.serverId))
      .where(live)
      .orderBy(asc(proxies.id))
      .limit(limit)
      .offset(offset),
    db.$count(proxies, live)
  ])
  const proxy_list: Proxy[] = rows.map(({ proxy, ip, port, username, password }) => ({
    id: proxy.id,
    ip,
    port,
    username,
    password,
    status: proxy.available === null ? null : proxy.available === 1,
    bing_delay: proxy.bingDelay,
    google_delay: proxy.googleDelay,
    amazon_delay: proxy.amazonDelay,
    created_at: iso(proxy.createdAt),
    updated_at: iso(proxy.updatedAt)
  }))
  return ok({ proxy_list, order: order.data, total, limit, offset })
}

/** All live proxies of an order as `ip:port:user:password` lines. The database writes the lines: nothing is built per row here. */
export async function proxyLines(
  db: Executor,
  orderId: number,
  userId: number | null
): Promise<Result<{ proxy_lines: string[]; proxy_count: number; filename: string }>> {
  const [order] = await db
    .select({ user: orders.userId, name: orders.proxyUsername, password: orders.proxyPassword })
    .from(orders)
    .where(and(eq(orders.id, orderId), isNull(orders.deletedAt)))
  if (!order || (userId !== null && order.user !== userId)) return refuse('not_found')
  const rows = await db
    .select({
      at: sql<string>`case family(${proxies.ip}) when 6 then '[' || host(${proxies.ip}) || ']' else host(${proxies.ip}) end || ':' || ${servers.proxyPort}`
    })
    .from(proxies)
    .innerJoin(servers, eq(servers.id, proxies.serverId))
    .where(and(eq(proxies.orderId, orderId), eq(proxies.state, 'live')))
    .orderBy(asc(proxies.id))
  if (rows.length === 0) return refuse('no_proxies')
  const proxy_lines = rows.map(row => `${row.at}:${order.name}:${order.password}`)
  return ok({ proxy_lines, proxy_count: proxy_lines.length, filename: `order_${orderId}_proxies.txt` })
}
