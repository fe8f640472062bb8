import { asc, inArray } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { auditLog } from './infra/tables.ts'
import { traceCredentials } from './infra/traced-reads.ts'
import { userActor } from './testing/session.ts'
import { startOrderShop, type Buyer, type OrderShop } from './domains/payments/order-shop.fixture.ts'

let world: OrderShop
let buyer: Buyer
let orderId: number

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.93.0.0/28'] })
  buyer = await world.customer('reader1')
  const order = await world.place(buyer)
  await world.pay(order)
  await world.confirm()
  orderId = order.id
})
afterAll(() => world?.close())
beforeEach(async () => {
  await world.shop.ctx.db.delete(auditLog)
})

const entries = () =>
  world.shop.ctx.db
    .select({ action: auditLog.action, target: auditLog.targetId, actor: auditLog.actorName, after: auditLog.after })
    .from(auditLog)
    .where(inArray(auditLog.action, ['order.read_credentials', 'order.export', 'user.export', 'coupon.export']))
    .orderBy(asc(auditLog.id))

const READS = ['get_proxy_detail/', 'get_proxy_detail/?format=csv', 'export_proxies/', 'copy_proxies/']

test('each read of proxy passwords by an operator is recorded with its size, also in a customer’s name', async () => {
  const boss = await world.shop.admin()
  const order = await world.row(orderId)
  for (const path of READS) expect((await boss.fetch(`/api/orders/order_list/${orderId}/${path}`)).status).toBe(200)
  const one = { action: 'order.read_credentials', target: String(orderId), actor: boss.user.username }
  expect(await entries()).toEqual(READS.map(() => ({ ...one, after: { rows: order.quantity } })))
  await boss.post('/api/users/admin/switch-user', { user_id: buyer.user.id })
  expect((await boss.get(`/api/orders/order_list/${orderId}/copy_proxies/`)).code).toBe(2000)
  expect((await entries()).at(-1)).toMatchObject(one)
  expect(await entries()).toHaveLength(READS.length + 1)
})

test('customers’ own reads leave no trace, nor does a read that is refused', async () => {
  for (const path of READS) await buyer.fetch(`/api/orders/order_list/${orderId}/${path}`)
  await buyer.fetch('/api/orders/order_list/?format=csv')
  const viewer = await world.shop.admin()
  expect((await viewer.get('/api/orders/order_list/999999/copy_proxies/')).code).toBe(404)
  expect(await entries()).toEqual([])
})

test('each export of orders, users and codes is recorded with its size, and pages are not', async () => {
  const boss = await world.shop.admin()
  const users = (await boss.get<{ total: number }>('/api/users/u/')).data.total
  await boss.get('/api/orders/order_list/')
  expect(await entries()).toEqual([])
  const paths = [
    '/api/orders/order_list/?format=csv',
    '/api/orders/export',
    `/api/orders/export?order_ids=${orderId}`,
    '/api/users/u/?format=csv',
    '/api/users/u/?format=csv&search=reader1',
    '/api/rewards/coupon_code/?format=csv'
  ]
  for (const path of paths) expect((await boss.fetch(path)).status, path).toBe(200)
  const selected = { method: 'POST', body: JSON.stringify({ order_ids: [orderId] }) }
  await boss.fetch('/api/orders/export', { ...selected, headers: { 'content-type': 'application/json' } })
  expect((await entries()).map(({ action, after }) => [action, (after as { rows: number }).rows])).toEqual([
    ['order.export', 1],
    ['order.export', 1],
    ['order.export', 1],
    ['user.export', users],
    ['user.export', 1],
    ['coupon.export', 0],
    ['order.export', 1]
  ])
})

test('a trace tells no screen to read again', async () => {
  const { ctx } = world.shop
  const published: unknown[] = []
  const watched = { ...ctx, changes: { ...ctx.changes, publish: (changes: unknown) => void published.push(changes) } }
  await traceCredentials(watched, userActor(1, { isSuperuser: true }), orderId, 4)
  expect(await entries()).toHaveLength(1)
  expect(published).toEqual([])
})
