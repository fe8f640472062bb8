import { Proxy, refuse, type ProxyLines } from '@netlet/contract'
import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { csvOf, paginate } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { httpsHost, readOffers } from '../fleet/index.ts'
import { servers } from '../fleet/tables.ts'
import { findOrder, isOver } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { proxyList, type ProxyQuery } from './list-proxies.ts'
import { proxies } from './tables.ts'

type Scope = {
  orderId: number
  /** Null: anyone's order. */
  userId: number | null
  now: Date
}

/** A page of an order's live proxies with the order itself. */
export async function proxyDetail(db: Executor, { orderId, userId, now }: Scope, query: ProxyQuery) {
  const order = await findOrder(db, orderId, userId, now)
  if (!order.ok) return order
  const page = await paginate(db, proxyList(order.data, now), query)
  if (!page.ok) return page
  const { data, ...rest } = page.data
  return ok({ proxy_list: data, order: order.data, ...rest })
}

/** The same proxies as CSV, all that match. */
export async function proxyCsv(db: Executor, { orderId, userId, now }: Scope, query: ProxyQuery) {
  const order = await findOrder(db, orderId, userId, now)
  if (!order.ok) return order
  return csvOf(db, proxyList(order.data, now), query, { columns: Object.keys(Proxy.omit({ https: true }).shape), now })
}

/** All live proxies of an order as `ip:port:user:password` lines. */
export async function proxyLines(
  db: Executor,
  { orderId, userId, now }: Scope
): Promise<Result<ProxyLines & { filename: string }>> {
  const [order] = await db
    .select({
      user: orders.userId,
      name: orders.proxyUsername,
      password: orders.proxyPassword,
      state: orders.state,
      expiredAt: orders.expiredAt
    })
    .from(orders)
    .where(and(eq(orders.id, orderId), isNull(orders.deletedAt)))
  if (!order || (userId !== null && order.user !== userId)) return refuse('not_found')
  if (isOver(order, now)) return refuse('no_proxies')
  const rows = await db
    .select({
      serverId: proxies.serverId,
      ip: sql<string>`host(${proxies.ip})`,
      at: sql<string>`case family(${proxies.ip}) when 6 then '[' || host(${proxies.ip}) || ']' else host(${proxies.ip}) end || ':' || ${servers.proxyPort}`
    })
    .from(proxies)
    .innerJoin(servers, eq(servers.id, proxies.serverId))
    .where(and(eq(proxies.orderId, orderId), eq(proxies.state, 'live')))
    .orderBy(asc(proxies.id))
  if (rows.length === 0) return refuse('no_proxies')
  const proxy_lines = rows.map(row => `${row.at}:${order.name}:${order.password}`)
  const offers = await readOffers(db, [...new Set(rows.map(row => row.serverId))], now)
  const hostOf = ({ serverId, ip }: (typeof rows)[number]): string | null => {
    const offer = offers.get(serverId)
    const https = offer ? httpsHost(offer, ip) : null
    return https?.leads ? https.host : null
  }
  return ok({
    proxy_lines,
    proxy_count: proxy_lines.length,
    filename: `order_${orderId}_proxies.txt`,
    ...(offers.size > 0 ? { https_hosts: rows.map(hostOf) } : {})
  })
}
