import type { Proxy } from '@netlet/contract'
import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Executor } from '../../infra/db/client.ts'
import { paginate } from '../../infra/list/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../payments/order-shop.fixture.ts'
import { proxyList, type ProxyQuery } from './list-proxies.ts'

let world: OrderShop
let buyer: Buyer
let orderId: number

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.92.0.0/28'] })
  buyer = await world.customer('filterer1')
  const order = await world.place(buyer)
  await world.pay(order)
  await world.confirm()
  orderId = order.id
  // By the last number of their addresses: two that answer all, two some and two nothing, and two that are unchecked.
  const found: [google: number | null, bing: number | null, amazon: number | null][] = [
    [30, 20, 10],
    [10, 20, 30],
    [null, 15, null],
    [25, null, null],
    [null, null, null],
    [null, null, null]
  ]
  const { rows } = await world.shop.ctx.db.execute<{ id: number }>(
    sql`select id from proxies where order_id = ${orderId} order by ip desc`
  )
  for (const [at, [google, bing, amazon]] of found.entries())
    await world.shop.ctx.db.execute(sql`update proxies set google_delay = ${google}, bing_delay = ${bing},
      amazon_delay = ${amazon}, available = ${at < 4 ? 1 : 0}, checked_at = now() where id = ${rows[at]?.id}`)
})
afterAll(() => world?.close())

const path = (query: string, id = orderId) => `/api/orders/order_list/${id}/get_proxy_detail/?${query}`
type Detail = { proxy_list: Proxy[]; total: number; next: string | null }
const detail = async (query = '') => (await buyer.get<Detail>(path(query))).data
/** Delays by site, in the order of the list. */
const delays = async (query: string) =>
  (await detail(query)).proxy_list.map(proxy => [proxy.google_delay, proxy.bing_delay, proxy.amazon_delay].join(' '))

test.each([
  ['status=available', 4],
  ['status=unavailable', 2],
  ['status=unchecked', 2],
  ['answers=google', 3],
  ['answers=bing', 3],
  ['answers=amazon', 2],
  // An unchecked proxy neither answered nor failed to.
  ['silent=google', 3],
  ['silent=amazon', 4],
  ['answers=bing&silent=google', 1],
  ['status=available&silent=amazon', 2],
  ['status=unchecked&silent=bing', 0],
  ['search=127.92.0', 8],
  // With its port, as in lists.
  ['search=127.92.0.5:3128', 1],
  // A whole address, and a part of another one.
  ['search=27.92.0.5', 1]
])('%s finds %i', async (query, count) => {
  const found = await detail(query)
  expect([found.proxy_list.length, found.total]).toEqual([count, count])
})

test('each site sorts by its delay, with the silent ones last; ids and addresses in their own order', async () => {
  expect((await delays('sort_by=google_delay')).slice(0, 3)).toEqual(['10 20 30', '25  ', '30 20 10'])
  expect((await delays('sort_by=amazon_delay&status=available')).slice(0, 2)).toEqual(['30 20 10', '10 20 30'])
  expect((await delays('sort_by=google_delay&sort_order=desc&answers=google'))[0]).toBe('30 20 10')
  const ips = (await detail('sort_by=ip')).proxy_list.map(({ ip }) => Number(ip.split('.')[3]))
  expect(ips).toEqual(ips.toSorted((a, b) => a - b))
  const ids = (await detail('')).proxy_list.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})

test('pages by key go through every sorting, each proxy once', async () => {
  for (const sort of ['id', 'ip', 'google_delay', 'bing_delay', 'amazon_delay']) {
    for (const order of ['asc', 'desc']) {
      const query = `sort_by=${sort}&sort_order=${order}`
      const whole = (await detail(query)).proxy_list.map(({ id }) => id)
      const seen: number[] = []
      for (let after = ''; ;) {
        const page = await detail(`${query}&limit=3${after}`)
        seen.push(...page.proxy_list.map(({ id }) => id))
        if (page.next === null) break
        after = `&after=${encodeURIComponent(page.next)}`
      }
      expect(seen, query).toEqual(whole)
    }
  }
})

test('the file holds what the list holds, in its order', async () => {
  const query = 'sort_by=google_delay&answers=google'
  const csv = await (await buyer.fetch(path(`${query}&format=csv`))).text()
  const [head = '', ...lines] = csv.trimEnd().split('\r\n')
  const column = head.split(',').indexOf('ip')
  expect(lines.map(line => line.split(',')[column])).toEqual((await detail(query)).proxy_list.map(({ ip }) => ip))
})

test.each(['status=broken', 'answers=yahoo', 'silent=', 'sort_by=password', 'sort_by=status', 'after=x'])(
  '%s is refused',
  async query => expect((await buyer.get(path(query))).status).toBe(400)
)

test('of 10,000 proxies any page is read by the index of the order, and sorted in memory', async () => {
  const { db } = world.shop.ctx
  await db.execute(sql`insert into proxies (created_at, updated_at, order_id, lease_id, server_id, ip, state, google_delay, available, checked_at)
    select now(), now(), p.order_id, p.lease_id, p.server_id, '10.0.0.0'::inet + n, 'live', n * 7919 % 900, 1, now()
    from generate_series(1, 9992) n cross join (select * from proxies where order_id = ${orderId} limit 1) p`)
  const other = await world.place(buyer)
  await db.execute(sql`insert into proxies (created_at, updated_at, order_id, lease_id, server_id, ip, state)
    select now(), now(), ${other.id}::bigint, p.lease_id, p.server_id, '10.1.0.0'::inet + n, 'live'
    from generate_series(1, 60000) n cross join (select * from proxies where order_id = ${orderId} limit 1) p`)
  await db.execute(sql`analyze proxies`)
  const asked: ProxyQuery[] = (['id', 'ip', 'google_delay'] as const).flatMap(sort_by =>
    [0, 9980].map(offset => ({ limit: 20, offset, sort_by, sort_order: 'asc' as const, status: 'available' as const }))
  )
  for (const query of asked) {
    const queries: SQL[] = []
    const watched = Object.create(db, {
      execute: { value: (statement: SQL) => (queries.push(statement), db.execute(statement)) }
    }) as Executor
    const page = await paginate(watched, proxyList({ id: orderId, is_expired: false }, world.shop.ctx.now()), query)
    expect(page).toMatchObject({ ok: true, data: { total: 9996, total_exact: true } })
    const [statement] = queries
    if (!statement) throw new Error('nothing was asked')
    const { rows } = await db.execute<{ 'QUERY PLAN': string }>(sql`explain (analyze, timing off) ${statement}`)
    const plan = rows.map(row => row['QUERY PLAN']).join('\n')
    expect(plan, `${query.sort_by} ${query.offset}`).not.toMatch(/Seq Scan on proxies/)
    expect(plan).toMatch(/proxies_(live|order)/)
  }
})
