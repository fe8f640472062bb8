import type { Order } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { createApiKey } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { userActor } from '../../testing/session.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../payments/order-shop.fixture.ts'
import { forgetBuyer, type OrderRow } from './index.ts'

let world: OrderShop
let buyer: Buyer
let stranger: Buyer
let boss: Buyer
let order: OrderRow

beforeAll(async () => {
  world = await startOrderShop()
  buyer = await world.customer('labeller1')
  stranger = await world.customer('labeller2')
  boss = await world.admin('boss')
  order = await world.place(buyer)
})
afterAll(() => world?.close())

const path = (id: number | string = order.id) => `/api/orders/order_list/${id}/label/`
const put = (form: object, by = buyer, id: number | string = order.id) => by.put<Order>(path(id), form)
const found = async (search: string, by = buyer) => {
  const list = await by.get<{ data: Order[] }>(`/api/orders/order_list/?search=${encodeURIComponent(search)}`)
  return list.data.data.map(({ order_id }) => order_id)
}

test('a label and a note are kept as they were written; what is left out stays, and an empty text is none', async () => {
  expect((await put({ label: '  Scraper \n one  ', note: ' first line\nsecond line ' })).data).toMatchObject({
    id: order.id,
    label: 'Scraper one',
    note: 'first line\nsecond line'
  })
  expect((await put({ label: '刮取 一' })).data).toMatchObject({ label: '刮取 一', note: 'first line\nsecond line' })
  expect((await put({ note: '   ' })).data).toMatchObject({ label: '刮取 一', note: null })
  expect((await put({ label: null })).data).toMatchObject({ label: null, note: null })
  expect((await put({})).data).toMatchObject({ label: null, note: null })
})

test.each([
  [{ label: 'x'.repeat(61) }, 'label'],
  [{ note: 'x'.repeat(501) }, 'note'],
  [{ label: 'a\0b' }, 'label'],
  [{ note: 'half \uD800' }, 'note'],
  [{ label: 7 }, 'label'],
  [{ label: ['x'] }, 'label']
])('words that cannot be kept are refused at their field %#', async (form, field) => {
  const refused = await put(form)
  expect(refused).toMatchObject({ status: 400, data: { errors: { [field]: expect.any(String) } } })
  expect((await world.row(order.id)).label).toBeNull()
})

test('60 and 500 characters fit, and what looks like code is text', async () => {
  const label = '<script>alert(1)</script>'.padEnd(60, '!')
  const note = '%_\\\'"'.padEnd(500, 'ö')
  expect((await put({ label, note })).data).toMatchObject({ label, note })
})

test('the same again is no change, and of ten at once one is kept', async () => {
  await put({ label: 'same' })
  const seen = await Promise.all(Array.from({ length: 10 }, (_, n) => put({ label: n < 5 ? 'same' : `other ${n}` })))
  expect(seen.map(reply => reply.code)).toEqual(Array.from({ length: 10 }, () => 2000))
  expect((await world.row(order.id)).label).toMatch(/^(same|other \d)$/)
})

test('only the customer writes them: another customer and an operator get a not found', async () => {
  await put({ label: 'mine', note: 'secret' })
  for (const by of [stranger, boss]) expect((await put({ label: 'theirs' }, by)).status).toBe(404)
  expect((await put({ label: 'x' }, buyer, 999_999)).status).toBe(404)
  expect((await put({ label: 'x' }, buyer, '99999999999999999999')).status).toBe(404)
  const read = await boss.get<Order>(`/api/orders/order_list/${order.id}/`)
  expect(read.data).toMatchObject({ label: 'mine', note: 'secret' })
  const switched = await boss.post('/api/users/admin/switch-user', { user_id: buyer.user.id })
  expect(switched.code, switched.msg).toBe(2000)
  expect(await put({ label: 'theirs' }, boss)).toMatchObject({ status: 403, data: { reason: 'while_impersonating' } })
  await boss.post('/api/users/admin/switch-back', {})
  expect((await world.row(order.id)).label).toBe('mine')
})

test("a customer's search finds its own labels, beside ids and products, and no others", async () => {
  const other = await world.place(stranger)
  await put({ label: 'Warehouse 12' })
  await put({ label: 'Warehouse 13' }, stranger, other.id)
  expect(await found('warehouse')).toEqual([order.publicId])
  expect(await found('ware')).toEqual([order.publicId])
  expect(await found('%')).toEqual([])
  await put({ label: '100% _a' })
  expect(await found('% _')).toEqual([order.publicId])
  expect(await found('Warehouse', stranger)).toEqual([other.publicId])
  // A label that is also an address, or the id of another order of the same customer.
  await put({ label: '192.0.2.7' })
  expect(await found('192.0.2.7')).toEqual([order.publicId])
  const second = await world.place(buyer)
  await put({ label: String(second.id) })
  expect((await found(String(second.id))).toSorted()).toEqual([order.publicId, second.publicId].toSorted())
  // Operators' searches find people, products and numbers, not labels.
  expect(await found('Warehouse', boss)).toEqual([])
})

test('the download of the own data has both, and nothing of them is left once the account is deleted', async () => {
  const leaver = await world.customer('labeller3')
  const own = await world.place(leaver)
  await put({ label: 'Bernd’s shop', note: 'call +49 30 1' }, leaver, own.id)
  const file = await (await leaver.fetch('/api/users/u/data_export')).text()
  expect(file).toContain('Bernd’s shop')
  expect(file).toContain('call +49 30 1')
  await command(world.shop.ctx, SYSTEM, unit => forgetBuyer(unit, leaver.user.id))
  expect(await world.row(own.id)).toMatchObject({ label: null, note: null, checkoutUrl: null })
})

test('a key that reads sees them and writes none; a banned customer does neither', async () => {
  await put({ label: 'read me' })
  const made = await createApiKey(world.shop.ctx, userActor(buyer.user.id), {
    name: 'reader',
    scopes: ['read', 'renew'],
    password: TEST_PASSWORD
  })
  if (!made.ok) throw new Error(made.reason)
  const headers = { authorization: `Bearer ${made.data.key}` }
  const list = await world.shop.app.inject({ url: '/api/orders/order_list/?search=read%20me', headers })
  expect(list.json()).toMatchObject({ data: { data: [{ label: 'read me' }] } })
  const write = await world.shop.app.inject({ method: 'PUT', url: path(), headers, payload: { label: 'x' } })
  expect(write.statusCode).toBe(403)
  await world.shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, buyer.user.id))
  expect((await put({ label: 'banned' })).status).toBe(401)
  await world.shop.ctx.db.update(users).set({ isActive: true }).where(eq(users.id, buyer.user.id))
})
