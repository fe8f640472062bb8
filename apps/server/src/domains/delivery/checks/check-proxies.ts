import { and, asc, eq, gt, isNull, sql, type SQL } from 'drizzle-orm'
import pLimit from 'p-limit'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { orders } from '../../orders/tables.ts'
import { proxies } from '../tables.ts'
import { selectWithCredentials } from '../with-credentials.ts'
import { probe, type ProxyAddress } from './probe.ts'

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
/** One UPDATE for so many. */
const PAGE = 500

/**
 * Sends a request through each of an order's live proxies to each site, and writes down which answered and how fast.
 * @returns how many proxies were checked
 */
export async function checkProxies(ctx: AppContext, orderId: number): Promise<number> {
  return checkWhere(ctx, eq(proxies.orderId, orderId), Infinity)
}

/** The checks of all proxies are spread over the day: each slot takes its share of them. */
export const SLOTS = 144

/**
 * Checks one slot's share of all live proxies.
 * @param deadline when (by the clock of `Date.now`) to leave the rest for the next day
 */
export async function checkShare(ctx: AppContext, slot: number, deadline: number): Promise<number> {
  return checkWhere(ctx, sql`${proxies.id} % ${SLOTS} = ${slot}`, deadline)
}

async function checkWhere(ctx: AppContext, where: SQL, deadline: number): Promise<number> {
  let after = 0
  let count = 0
  while (Date.now() < deadline) {
    const page = await selectWithCredentials(ctx.db)
      .where(and(where, eq(proxies.state, 'live'), gt(proxies.id, after), isNull(orders.deletedAt)))
      .orderBy(asc(proxies.id))
      .limit(PAGE)
    const last = page.at(-1)
    if (!last) break
    await store(ctx, await pLimit(PROXIES_AT_ONCE).map(page, one => checkOne(ctx, one)))
    after = last.proxy.id
    count += page.length
  }
  return count
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
  // What was given back while it was checked is nobody's to see.
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
