import {
  type CheckSite,
  type Order,
  type OrderProxy,
  Proxy,
  type ProxyLines,
  type ProxyStatus,
  refuse
} from '@netlet/contract'
import { type SQL, and, asc, eq, ilike, isNotNull, isNull, ne, sql } from '../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { type ListInput, among, csvOf, defineList, paginate } from '../../infra/list/index.ts'
import { httpsHost, readOffers } from '../certificates/index.ts'
import { proxies } from './tables.ts'
import { isInet } from '../../infra/db/columns.ts'
import { containing } from '../../infra/db/like.ts'
import type { Executor } from '../../infra/db/client.ts'
import { servers } from '../servers/tables.ts'
import { orders } from '../orders/tables.ts'
import { type Result, ok } from '../../infra/result.ts'
import { findOrder, isOver } from '../orders/index.ts'

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

type Query = ListInput<'id'> & { retired?: '0' | '1' | undefined }

/** An order's present and former addresses for operators, oldest first, with their servers and without passwords. */
export const orderProxyList = (orderId: number) =>
  defineList<Query, OrderProxy>({
    name: `order_${orderId}_addresses`,
    table: proxies,
    id: proxies.id,
    sort: { id: proxies.id },
    match: (_db, { search, retired }) => ({
      where: [
        retired === undefined ? undefined : (retired === '1' ? eq : ne)(proxies.state, 'retired'),
        search === undefined ? undefined : isAt(search)
      ],
      anyOf: [{ column: proxies.orderId, among: [orderId] }]
    }),
    async load(db, ids) {
      const rows = await db
        .select({
          proxy: proxies,
          ip: sql<string>`host(${proxies.ip})`,
          server: { id: servers.id, name: servers.name, port: servers.proxyPort, status: servers.status }
        })
        .from(proxies)
        .innerJoin(servers, eq(servers.id, proxies.serverId))
        .where(among(proxies.id, ids))
      return rows.map(({ proxy, ip, server }) => ({
        id: proxy.id,
        ip,
        port: server.port,
        state: proxy.state,
        server_id: server.id,
        server: server.name,
        server_status: server.status,
        ...checkOf(proxy),
        checked_at: isoOrNull(proxy.checkedAt),
        live_at: isoOrNull(proxy.liveAt),
        created_at: iso(proxy.createdAt)
      }))
    }
  })

/** Proxies with what a client needs: the server's port, and the order's username and password. Add a condition. */
export const selectWithCredentials = (db: Executor) =>
  db
    .select({
      proxy: proxies,
      userId: orders.userId,
      ip: sql<string>`host(${proxies.ip})`,
      port: servers.proxyPort,
      username: orders.proxyUsername,
      password: orders.proxyPassword
    })
    .from(proxies)
    .innerJoin(orders, eq(orders.id, proxies.orderId))
    .innerJoin(servers, eq(servers.id, proxies.serverId))

/**
 * Proxies of an address, or of all addresses that contain a text. A port behind it, as in lists of proxies, is ignored.
 * A whole IPv4 address may be the beginning of a longer one.
 */
function isAt(search: string): SQL {
  const text = /^([\d.]+|\[[\da-f:.]+\]):\d*$/i.exec(search)?.[1]?.replace(/^\[|\]$/g, '') ?? search
  const found = ilike(sql`host(${proxies.ip})`, containing(text))
  return isInet(text) ? sql`(${eq(proxies.ip, text)} or ${found})` : found
}

type Checked = Pick<typeof proxies.$inferSelect, 'available' | 'bingDelay' | 'googleDelay' | 'amazonDelay'>

/** What the latest check of a proxy found, delays in milliseconds; null before the first. */
const checkOf = ({ available, bingDelay, googleDelay, amazonDelay }: Checked) => ({
  status: available === null ? null : available === 1,
  bing_delay: bingDelay,
  google_delay: googleDelay,
  amazon_delay: amazonDelay
})

export type ProxyQuery = ListInput<'id' | 'ip' | `${CheckSite}_delay`> & {
  status?: ProxyStatus | undefined
  /** A site that answered its latest check. */
  answers?: CheckSite | undefined
  /** A site that did not answer it. */
  silent?: CheckSite | undefined
}

const DELAYS = { google: proxies.googleDelay, bing: proxies.bingDelay, amazon: proxies.amazonDelay }
/** A site that did not answer sorts behind all that did. */
const delay = (site: CheckSite) => sql`coalesce(${DELAYS[site]}, 2147483647)`

const STATUSES: Record<ProxyStatus, SQL> = {
  available: sql`${proxies.available} = 1`,
  unavailable: sql`${proxies.available} = 0`,
  unchecked: isNull(proxies.available)
}

/**
 * An order's live proxies, oldest first; found by address and by their latest check. The rows of one order are read by
 * its index and sorted here: 10,000 take some milliseconds, but each check would write an index for each sorting. An
 * order whose time is over has none: the clock decides, not the job that will soon stop them.
 */
export const proxyList = ({ id, is_expired }: Pick<Order, 'id' | 'is_expired'>, now: Date) =>
  defineList<ProxyQuery, Proxy>({
    name: `order_${id}_proxies`,
    table: proxies,
    id: proxies.id,
    sort: {
      id: proxies.id,
      ip: proxies.ip,
      google_delay: delay('google'),
      bing_delay: delay('bing'),
      amazon_delay: delay('amazon')
    },
    match: (_db, { search, status, answers, silent }) => ({
      where: [
        is_expired ? sql`false` : undefined,
        // A literal, because a prepared plan with a parameter could not use the partial index.
        sql`${proxies.state} = 'live'`,
        search === undefined ? undefined : isAt(search),
        status && STATUSES[status],
        answers && isNotNull(DELAYS[answers]),
        silent && sql`${proxies.available} is not null and ${isNull(DELAYS[silent])}`
      ],
      anyOf: [{ column: proxies.orderId, among: [id] }]
    }),
    async load(db, ids) {
      const rows = await selectWithCredentials(db).where(among(proxies.id, ids))
      const offers = await readOffers(db, [...new Set(rows.map(({ proxy }) => proxy.serverId))], now)
      const httpsOf = (serverId: number, ip: string) => {
        const offer = offers.get(serverId)
        return offer ? httpsHost(offer, ip) : null
      }
      return rows.map(({ proxy, ip, port, username, password }) => ({
        id: proxy.id,
        ip,
        port,
        username,
        password,
        ...checkOf(proxy),
        created_at: iso(proxy.createdAt),
        updated_at: iso(proxy.updatedAt),
        https: httpsOf(proxy.serverId, ip)
      }))
    }
  })
