import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import pLimit from 'p-limit'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { and, asc, eq, gte, inArray, isNull, lt, or, sql } from '../../../infra/db/drizzle.ts'
import { aclRules } from '../../inventory/tables.ts'
import { orders } from '../../orders/tables.ts'
import { orderAccess, orderTraffic, serverOutages } from '../../servers/tables.ts'
import type { ReadProxyChecks } from '../../status/index.ts'
import { selectWithCredentials } from '../list-proxies.ts'
import { proxies } from '../tables.ts'

/**
 * The results of checks of live proxies since a time, by server: how many customers were checked, how many of them had
 * proxies that reached no site, and the share of those proxies, each customer counting alike. Results that say nothing
 * about the server are left out: orders that have used up their traffic, orders whose rules close all check sites, and
 * checks from before the end of the server's last outage.
 */
export const proxyChecksOf =
  ({ checkSites }: AppContext['config']): ReadProxyChecks =>
  async (db, since) => {
    const { rows } = await db.execute<{ server_id: number; customers: number; failing: number; share: number }>(sql`
      with closed as materialized (${closedSites(Object.values(checkSites))}), lately as (
        select p.server_id, o.user_id, avg((p.available = 0)::int) as failed
        from ${proxies} p join ${orders} o on o.id = p.order_id
        where p.state = 'live' and p.checked_at >= ${since.toISOString()}::timestamptz and p.available is not null
          and not exists (select 1 from ${orderTraffic} t where t.order_id = o.id and t.used >= t.allowed)
          and not exists (select 1 from ${serverOutages} s where s.server_id = p.server_id
            and coalesce(s.ended_at, 'infinity') >= p.checked_at and s.started_at <= p.checked_at)
          and exists (select 1 from closed c where cardinality(c.rules) = 0 or o.rules && c.rules)
        group by p.server_id, o.user_id
      )
      select server_id, count(*)::int as customers, (count(*) filter (where failed > 0))::int as failing,
        avg(failed)::float8 as share
      from lately group by server_id`)
    return new Map(rows.map(({ server_id: id, ...checks }) => [id, checks]))
  }

/** For each check site, the rules that close it to orders without one of them. */
const closedSites = (sites: readonly string[]) =>
  sql.join(
    sites.map(site => {
      const names = new URL(site).hostname.split('.').map((_, at, parts) => parts.slice(at).join('.'))
      return sql`select array(select r.id from ${aclRules} r
        where r.deleted_at is null and r.domains && ${sql.param(names)}::text[]) as rules`
    }),
    sql` union all `
  )

type Checked = {
  id: number
  order: { id: number; userId: number }
  google: number | null
  bing: number | null
  amazon: number | null
}

const TIMEOUT_MS = 10_000
/** Each asks three sites at once. */
const PROXIES_AT_ONCE = 100
/** Results in one UPDATE. If all proxies are silent, a page takes as long as one of them. */
const PAGE = 100

/**
 * Sends a request through each of an order's live proxies to each site, and stores which sites answered and how fast.
 * With the same `since` it goes on where it stopped.
 * @param since proxies that were checked at or after this time are done
 * @param until when (by `performance.now()`) to stop; one page is always checked
 * @param onPage called after a page's results have been stored
 * @returns how many proxies were checked, and whether some are left
 */
export async function checkProxies(
  ctx: AppContext,
  orderId: number,
  { since = ctx.now(), until = Infinity, onPage }: { since?: Date; until?: number; onPage?: () => Promise<void> } = {}
): Promise<{ checked: number; left: boolean }> {
  for (let checked = 0; ;) {
    const page = await selectWithCredentials(ctx.db)
      .where(and(eq(proxies.orderId, orderId), isWorking, isUnchecked(since)))
      .orderBy(asc(proxies.id))
      .limit(PAGE)
    if (page.length === 0) return { checked, left: false }
    await checkPage(ctx, page)
    await onPage?.()
    checked += page.length
    if (performance.now() >= until) return { checked, left: page.length === PAGE }
  }
}

/** Whether an order's proxies let only listed clients in. This process is not listed, so a check would say nothing. */
export const hasClientList = async (db: Executor, orderId: number): Promise<boolean> =>
  (await db.$count(
    orderAccess,
    and(eq(orderAccess.orderId, orderId), eq(orderAccess.access, 'password_and_address'))
  )) > 0

/** How many of an order's live proxies were checked at or after `since`. */
export const countChecked = (db: Executor, orderId: number, since: Date): Promise<number> =>
  db.$count(proxies, and(eq(proxies.orderId, orderId), eq(proxies.state, 'live'), gte(proxies.checkedAt, since)))

const openToUs = sql`not exists (
  select 1 from ${orderAccess} where ${orderAccess.orderId} = ${proxies.orderId} and ${orderAccess.access} = 'password_and_address')`
const isWorking = and(eq(proxies.state, 'live'), isNull(orders.deletedAt), openToUs)
const isUnchecked = (since: Date) => or(isNull(proxies.checkedAt), lt(proxies.checkedAt, since))

/** The checks of all proxies are spread over the day. Each slot takes its share. */
export const SLOTS = 144
/** More than a slot has time for. */
const SHARE = 50_000

/**
 * Checks one slot's share of all live proxies, the oldest check first, so that what one day has no time for comes first
 * on the next.
 * @param deadline when (by `performance.now()`) to leave the rest for the next day
 */
export async function checkShare(ctx: AppContext, slot: number, deadline: number): Promise<number> {
  const due = await ctx.db
    .select({ id: proxies.id })
    .from(proxies)
    .where(and(sql`${proxies.id} % ${SLOTS} = ${slot}`, eq(proxies.state, 'live')))
    .orderBy(sql`${proxies.checkedAt} asc nulls first`, asc(proxies.id))
    .limit(SHARE)
  let count = 0
  for (let at = 0; at < due.length && performance.now() < deadline; at += PAGE) {
    const ids = due.slice(at, at + PAGE).map(({ id }) => id)
    const page = await selectWithCredentials(ctx.db).where(and(inArray(proxies.id, ids), isWorking))
    await checkPage(ctx, page)
    count += page.length
  }
  return count
}

async function checkPage(ctx: AppContext, page: Found[]): Promise<void> {
  await store(ctx, await pLimit(PROXIES_AT_ONCE).map(page, one => checkOne(ctx, one)))
}

type Found = ProxyAddress & { proxy: { id: number; orderId: number }; userId: number }

async function checkOne(ctx: AppContext, one: Found): Promise<Checked> {
  const { google, bing, amazon } = ctx.config.checkSites
  const ask = (site: string) => probe(one, new URL(site), { timeoutMs: TIMEOUT_MS })
  const delays = await Promise.all([ask(google), ask(bing), ask(amazon)])
  const order = { id: one.proxy.orderId, userId: one.userId }
  return { id: one.proxy.id, order, google: delays[0], bing: delays[1], amazon: delays[2] }
}

async function store(ctx: AppContext, results: Checked[]): Promise<void> {
  const column = (pick: (checked: Checked) => number | null) => sql.param(results.map(pick))
  const at = ctx.now().toISOString()
  // Proxies that were given back during the check keep no result.
  await command(ctx, SYSTEM, async unit => {
    const { rows } = await unit.tx.execute<{ id: number }>(sql`
    update proxies p set google_delay = c.google, bing_delay = c.bing, amazon_delay = c.amazon,
      available = (coalesce(c.google, c.bing, c.amazon) is not null)::int, checked_at = ${at}, updated_at = ${at}
    from unnest(${column(c => c.id)}::bigint[], ${column(c => c.google)}::int[], ${column(c => c.bing)}::int[],
      ${column(c => c.amazon)}::int[]) as c (id, google, bing, amazon)
    where p.id = c.id and p.state = 'live'
    returning p.id`)
    const written = new Set(rows.map(row => row.id))
    const shown = new Map(results.filter(({ id }) => written.has(id)).map(({ order }) => [order.id, order]))
    for (const order of shown.values()) unit.publish('order', order.id, order.userId)
  })
}

type ProxyAddress = { ip: string; port: number; username: string; password: string }

/** Statuses with which a proxy says that it did not reach the site. */
const REFUSALS = new Set([403, 407, 502, 503, 504])

/**
 * Asks for a page through a proxy.
 * @param ca authorities for https besides the system's own
 * @returns milliseconds until the site's answer began; null if none came within `timeoutMs`
 */
export async function probe(
  proxy: ProxyAddress,
  site: URL,
  { timeoutMs, ca }: { timeoutMs: number; ca?: string }
): Promise<number | null> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), timeoutMs)
  const begun = performance.now()
  try {
    const secure = site.protocol === 'https:'
    const status = await (secure
      ? throughTunnel(proxy, site, abort.signal, ca)
      : asPlainProxy(proxy, site, abort.signal))
    // Through a tunnel only the site itself can answer; a plain answer may be the proxy's own.
    if (!secure && REFUSALS.has(status)) return null
    return Math.max(1, Math.round(performance.now() - begun))
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}

const AGENT_NAME = 'Mozilla/5.0 (compatible; connectivity check)'

const credentials = ({ username, password }: ProxyAddress) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

function asPlainProxy(proxy: ProxyAddress, site: URL, signal: AbortSignal): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = httpRequest({
    host: proxy.ip,
    port: proxy.port,
    path: site.href,
    headers: {
      host: site.host,
      'proxy-authorization': credentials(proxy),
      'user-agent': AGENT_NAME,
      connection: 'close'
    },
    agent: false,
    signal
  })
  request.on('response', response => resolve(statusOf(response)))
  request.on('error', reject)
  request.end()
  return promise
}

async function throughTunnel(proxy: ProxyAddress, site: URL, signal: AbortSignal, ca?: string): Promise<number> {
  const socket = await openTunnel(proxy, site, signal)
  try {
    return await requestThroughTunnel(socket, site, signal, ca)
  } finally {
    socket.destroy()
  }
}

function requestThroughTunnel(socket: Socket, site: URL, signal: AbortSignal, ca?: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = httpsRequest({
    host: site.hostname,
    path: `${site.pathname}${site.search}`,
    headers: { host: site.host, 'user-agent': AGENT_NAME, connection: 'close' },
    signal,
    createConnection: () => connectTls({ socket, servername: site.hostname, ...(ca ? { ca } : {}) })
  })
  request.on('response', response => resolve(statusOf(response)))
  request.on('error', reject)
  request.end()
  return promise
}

function openTunnel(proxy: ProxyAddress, site: URL, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const authority = `${site.hostname}:${site.port || 443}`
  const request = httpRequest({
    host: proxy.ip,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, 'proxy-authorization': credentials(proxy) },
    agent: false,
    signal
  })
  request.on('connect', (response: IncomingMessage, socket: Socket) => {
    if (response.statusCode === 200) return resolve(socket)
    socket.destroy()
    reject(new Error(`the proxy refused: ${response.statusCode}`))
  })
  request.on('response', response => reject(new Error(`the proxy refused: ${statusOf(response)}`)))
  request.on('error', reject)
  request.end()
  return promise
}

/** Only the head matters, so the body is not awaited. */
function statusOf(response: IncomingMessage): number {
  response.on('error', () => {})
  response.destroy()
  return response.statusCode ?? 0
}
