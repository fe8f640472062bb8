import type { Order } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { TestClient } from '../../testing/client.ts'
import { hasOpenMoney } from '../inbox/index.ts'
import { ordersPaidBy } from '../payments/index.ts'
import { ORDERED } from '../../testing/ordered.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { createRule } from '../inventory/index.ts'
import { payments } from '../payments/tables.ts'
import { orderRoutes, remindExpiries } from './index.ts'
import { orders } from './tables.ts'
import { transition } from './transition.ts'
import { addPlan, addRow } from '../../testing/rows.ts'

let shop: TestShop
let admin: TestClient
let buyer: TestClient & { user: { id: number } }
let plan: { productId: number; variantId: number; serverGroupId: number; rules: number[] }
/** Noon in the middle of a month, so that yesterday and last month are in the expected day and month. */
const NOW = new Date('2026-05-15T12:00:00Z')

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => orderRoutes(mount, ctx, { ordersPaidBy, hasOpenMoney }),
    now: () => NOW
  })
  const { db } = shop.ctx
  admin = await shop.admin({ username: 'boss' })
  buyer = await shop.customer({ username: 'buyer' })
  const form = { name: 'Rule, "1"', description: '', price: '0.50', platformVariantId: '9', aclValue: 'a.test' }
  const rule = await db.transaction(tx => createRule({ tx, now: NOW }, form))
  if (!rule.ok) throw new Error(rule.reason)
  plan = { ...(await addPlan(shop.ctx)), rules: [rule.rule.id] }
})
afterAll(() => shop?.close())

let count = 0
async function insertOrder(change: Partial<typeof orders.$inferInsert> = {}): Promise<number> {
  count += 1
  const row = await addRow(shop.ctx, orders, {
    ...plan,
    publicId: `NL-test-${count}`,
    userId: buyer.user.id,
    ...ORDERED,
    reservedUntil: NOW,
    createdAt: NOW,
    state: 'timed_out',
    proxyUsername: `user${count}`,
    ...change
  })
  return row.id
}

const live = (days = 30) => ({
  state: 'delivered' as const,
  deliveryNum: 8,
  paidAt: NOW,
  payAmount: '20.00',
  expiredAt: new Date(NOW.getTime() + days * DAY)
})
const paid = (orderId: number, amount: string, at: Date, accepted = true) =>
  shop.ctx.db.insert(payments).values({
    orderId,
    platformOrderId: `p${orderId}-${at.getTime()}-${amount}`,
    platformOrderNumber: '#1',
    kind: 'renewal',
    amount,
    discount: '0',
    accepted,
    createdAt: at
  })
const at = (id: number, call = '') => `/api/orders/order_list/${id}/${call}`

test('the figures: exact money, by day and month, without what was deleted', async () => {
  const figures = async () => (await admin.get('/api/orders/statistics')).data
  expect(await figures()).toEqual({
    total: 0,
    paid: 0,
    unpaid: 0,
    today: 0,
    totalAmount: '0.00',
    monthlyAmount: '0.00',
    dailyAmount: '0.00'
  })
  const yesterday = new Date(NOW.getTime() - DAY)
  const lastMonth = new Date(NOW.getTime() - 20 * DAY)
  const one = await insertOrder({ ...live(), createdAt: yesterday })
  const deleted = await insertOrder({ ...live(), deletedAt: NOW })
  await insertOrder()
  await paid(one, '0.10', NOW)
  await paid(one, '0.20', NOW)
  await paid(one, '1000000000.01', yesterday)
  await paid(one, '5.00', lastMonth)
  await paid(one, '77.00', NOW, false)
  await paid(deleted, '99.00', NOW)
  expect(await figures()).toEqual({
    total: 2,
    paid: 1,
    unpaid: 1,
    today: 1,
    totalAmount: '1000000005.31',
    monthlyAmount: '1000000000.31',
    dailyAmount: '0.30'
  })
})

test('the export: quoted, harmless in a spreadsheet, only what was asked for', async () => {
  const evil = await insertOrder({
    productName: '=HYPERLINK("http://x","y"), 1',
    variantName: '+1\nnext',
    platformOrderNumber: '@sum'
  })
  const plain = await insertOrder({ payAmount: '20.00', refundedAmount: '7.50', paidAt: NOW })
  const hidden = await insertOrder({ deletedAt: NOW })
  const reply = await admin.fetch(`/api/orders/export?order_ids=${evil},${plain},${hidden}`)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(reply.headers.get('content-disposition')).toBe('attachment; filename="orders_2026-05-15T12-00-00.csv"')
  const [head = '', first = '', ...rest] = (await reply.text()).split('\r\n')
  expect(head.split(',').slice(0, 3)).toEqual(['id', 'order_id', 'shopify_order_number'])
  expect(first).toMatch(
    new RegExp(`^${plain},NL-test-\\d+,,buyer,buyer@example.com,Plan,Here,8,"Rule, ""1""",20.00,20.00,7.50,1,`)
  )
  expect(rest.join('\n')).toContain(`"'=HYPERLINK(""http://x"",""y""), 1","'+1\nnext",8,`)
  expect(rest.join('\n')).toContain("'@sum")
  expect(rest.join('\n')).not.toContain(`\n${hidden},`)
  const all = await (await admin.fetch('/api/orders/export')).text()
  expect(all.split('\r\n').filter(line => /^\d+,NL-test/.test(line)).length).toBe(4)
  expect((await admin.fetch('/api/orders/export?order_ids=1,x')).status).toBe(400)
})

test('an export of more than a page is whole', async () => {
  const first = await insertOrder()
  await shop.ctx.db
    .execute(sql`insert into orders (created_at, order_id, user_id, product_id, variant_id, server_group_id, state,
      product_name, variant_name, quantity, cart_step, proxy_time, variant_price, acl_price, amount, rules,
      reserved_until, proxy_username, proxy_password)
    select now(), 'NL-many-' || n, user_id, product_id, variant_id, server_group_id, 'timed_out', 'Plan', 'Here', 8, 8, 30, 2, 0.5, 20,
      rules, reserved_until, 'many' || n, 'x' from orders, generate_series(1, 2500) n where id = ${first}`)
  const lines = (await (await admin.fetch('/api/orders/export')).text())
    .split('\r\n')
    .filter(line => line.includes('NL-many-'))
  expect(new Set(lines.map(line => line.split(',')[0])).size).toBe(2500)
  const { rows } = await shop.ctx.db.execute<{ id: number }>(
    sql`select id from orders where order_id like 'NL-many-%' order by id`
  )
  // More ids than fit into a URL.
  const selected = await admin.fetch('/api/orders/export', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order_ids: rows.map(({ id }) => id) })
  })
  expect(selected.status).toBe(200)
  const ids = (await selected.text()).split('\r\n').flatMap(line => /^\d+(?=,)/.exec(line) ?? [])
  expect(ids.map(Number)).toEqual(rows.map(({ id }) => id).toReversed())
  expect((await admin.post('/api/orders/export', { order_ids: [] })).status).toBe(400)
  await shop.ctx.db.execute(sql`delete from orders where order_id like 'NL-many-%'`)
})

test('an order that holds nothing is deleted: it disappears for everyone, with a trace', async () => {
  const { db } = shop.ctx
  const id = await insertOrder({ state: 'expired', paidAt: NOW, payAmount: '20.00', expiredAt: NOW })
  expect((await admin.delete(at(id))).code).toBe(2000)
  expect((await admin.delete(at(id))).status).toBe(404)
  expect((await admin.get<{ total: number }>(`/api/orders/search?order_id=NL-test-${count}`)).data.total).toBe(0)
  expect((await admin.get(at(id, 'events/'))).status).toBe(404)
  const { rows } = await db.execute(
    sql`select actor_name, action, target_id from audit_log where action = 'order.delete'`
  )
  expect(rows.at(-1)).toEqual({ actor_name: 'boss', action: 'order.delete', target_id: String(id) })
})

test('the expiry is set to a moment in the future, for orders whose time runs', async () => {
  const id = await insertOrder({ ...live(3), reminderSentAt: NOW })
  const extend = (expired_at: unknown, order = id) =>
    admin.post<Order>(at(order, 'update_proxy_expired_at/'), { expired_at })
  const wanted = NOW.getTime() + 40 * DAY
  expect((await extend(wanted)).data.expired_at).toBe(new Date(wanted).toISOString())
  // Seconds are accepted too, and numbers as text, which forms send.
  expect((await extend(wanted / 1000 + 60)).data.expired_at).toBe(new Date(wanted + 60_000).toISOString())
  expect((await extend(String(wanted))).data.expired_at).toBe(new Date(wanted).toISOString())
  const refused = await extend(NOW.getTime())
  expect(refused).toMatchObject({
    status: 400,
    msg: 'The expiry must be in the future',
    data: { reason: 'expiry_in_past', errors: { expired_at: 'The expiry must be in the future' } }
  })
  for (const bad of [null, '', 'tomorrow', -1, 1e17]) {
    expect(await extend(bad), String(bad)).toMatchObject({ status: 400, msg: 'Please select the expire time' })
  }
  const [row] = await shop.ctx.db.select().from(orders).where(eq(orders.id, id))
  expect(row).toMatchObject({ expiredAt: new Date(wanted), reminderSentAt: null })
  const unpaid = await insertOrder()
  const over = await insertOrder({ ...live(), state: 'expired' })
  const failed = await insertOrder({ ...live(), state: 'failed', expiredAt: null, deliveryNum: 0 })
  for (const order of [unpaid, over, failed]) expect((await extend(wanted, order)).status).toBe(409)
  expect((await extend(wanted, 999_999)).status).toBe(404)
  const events = await shop.ctx.db.execute<{ kind: string; detail: Record<string, unknown> }>(
    sql`select kind, detail from order_events where order_id = ${id} order by id desc`
  )
  expect(events.rows.map(event => event.kind)).toEqual(['expiry_set', 'expiry_set', 'expiry_set'])
  expect(events.rows[0]?.detail).toMatchObject({ to: new Date(wanted).toISOString(), by: 'boss' })
  const { rows } = await shop.ctx.db.execute(
    sql`select before, after from audit_log where action = 'order.extend' and target_id = ${String(id)} order by id limit 1`
  )
  expect(rows).toEqual([
    {
      before: { expired_at: new Date(NOW.getTime() + 3 * DAY).toISOString() },
      after: { expired_at: new Date(wanted).toISOString() }
    }
  ])
})

test('an expiry set from a form is refused as stale if it has changed since', async () => {
  const id = await insertOrder(live(3))
  const extend = (days: number, shown: number) =>
    admin.post<{ current: Order }>(at(id, 'update_proxy_expired_at/'), {
      expired_at: NOW.getTime() + days * DAY,
      ends_at: new Date(NOW.getTime() + shown * DAY).toISOString()
    })
  // A renewal was paid while the form was open.
  const renewed = new Date(NOW.getTime() + 33 * DAY)
  await shop.ctx.db.update(orders).set({ expiredAt: renewed }).where(eq(orders.id, id))
  expect(await extend(4, 3)).toMatchObject({
    status: 409,
    data: { reason: 'stale', changed: ['expired_at'], current: { id, expired_at: renewed.toISOString() } }
  })
  // Of two concurrent ones, one is refused as stale.
  const both = await Promise.all([extend(34, 33), extend(35, 33)])
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
})

test('an expiry that is set to what it was changes nothing and leaves no history', async () => {
  const id = await insertOrder({ ...live(3), reminderSentAt: NOW })
  const [before] = await shop.ctx.db.select().from(orders).where(eq(orders.id, id))
  const same = before?.expiredAt ?? NOW
  const form = { expired_at: same.getTime(), ends_at: same.toISOString() }
  expect((await admin.post(at(id, 'update_proxy_expired_at/'), form)).status).toBe(200)
  const [row] = await shop.ctx.db.select().from(orders).where(eq(orders.id, id))
  expect(row).toEqual(before)
  expect((await shop.ctx.db.execute(sql`select 1 from order_events where order_id = ${id}`)).rows).toEqual([])
  const told = sql`select 1 from audit_log where action = 'order.extend' and target_id = ${String(id)}`
  expect((await shop.ctx.db.execute(told)).rows).toEqual([])
})

test('a customer is reminded once before the end, and again when the end was moved', async () => {
  const { db } = shop.ctx
  const remind = async () => {
    const counts = await Promise.all([remindExpiries(shop.ctx), remindExpiries(shop.ctx)])
    return counts[0] + counts[1]
  }
  await remind()
  const soon = await insertOrder(live(2.9))
  const [later, over, failed] = [live(3.1), live(-1), { ...live(), state: 'failed' as const, expiredAt: null }]
  for (const order of [later, over, failed]) await insertOrder(order)
  expect(await remind()).toBe(1)
  expect(await remind()).toBe(0)
  await admin.post(at(soon, 'update_proxy_expired_at/'), { expired_at: NOW.getTime() + DAY })
  expect(await remind()).toBe(1)
  const { rows } = await db.execute(sql`select data -> 'data' ->> 'renew_url' as url from pgboss.job
    where name = 'send-mail' and data ->> 'template' = 'expiry-reminder' and data ->> 'key' like ${`reminder:${soon}:%`}`)
  expect(rows).toHaveLength(2)
  expect(rows[0]?.['url']).toContain(`renew=${soon}`)
})

test('no customer misses a reminder because many orders end on one day', async () => {
  await remindExpiries(shop.ctx)
  for (let n = 0; n < 5; n++) await insertOrder(live(2))
  expect(await remindExpiries(shop.ctx, { batch: 2 })).toBe(5)
})

test('pages follow on each other; searches find by id, user and product', async () => {
  const other = await shop.customer({ username: 'pager' })
  for (let n = 0; n < 7; n++)
    await insertOrder({ userId: other.user.id, productName: n === 3 ? 'Rare 50%_plan' : 'Plan' })
  type Page = { data: Order[]; total: number }
  const page = async (query: string, who: TestClient = other) =>
    (await who.get<Page>(`/api/orders/order_list/?${query}`)).data
  const all = await page('limit=100')
  expect(all.total).toBe(7)
  const parts = await Promise.all([0, 3, 6].map(offset => page(`limit=3&offset=${offset}`)))
  expect(parts.flatMap(part => part.data.map(order => order.id))).toEqual(all.data.map(order => order.id))
  expect(parts.every(part => part.total === 7)).toBe(true)
  expect((await page('search=50%25_')).data).toHaveLength(1)
  expect((await page('search=%25')).data).toHaveLength(1)
  expect((await page(`product_type=999`)).total).toBe(0)
  expect((await page('pay_status=1')).total).toBe(0)
  expect((await page('limit=100', admin)).total).toBeGreaterThan(7)
  expect((await page('username=pager', admin)).total).toBe(7)
  // A customer's own list ignores other users' names.
  expect((await page('username=buyer')).total).toBe(7)
  const search = async (query: string) => (await admin.get<Page>(`/api/orders/search?${query}`)).data.total
  expect(await search('username=pager&product_name=rare')).toBe(1)
  expect(await search(`order_id=${all.data[0]?.order_id}`)).toBe(1)
  for (const bad of ['limit=0', 'limit=10001', 'offset=-1', 'state=sold', 'product_type=x']) {
    expect((await admin.get(`/api/orders/order_list/?${bad}`)).status, bad).toBe(400)
  }
})

test('a way that the table does not have is never taken', async () => {
  const id = await insertOrder()
  await expect(
    command(shop.ctx, SYSTEM, unit => transition(unit, { id, state: 'timed_out' }, 'deliver_all'))
  ).rejects.toThrow('An order that is timed_out cannot deliver_all')
  const [row] = await shop.ctx.db.select({ state: orders.state }).from(orders).where(eq(orders.id, id))
  expect(row).toEqual({ state: 'timed_out' })
})
