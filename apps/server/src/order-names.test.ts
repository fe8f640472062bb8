import type { AuditEntry, Order, Page } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startStockedShop, type Buyer, type StockedShop } from './api/stocked-shop.fixture.ts'

let shop: StockedShop
let admin: Buyer
let order: { id: number; publicId: string }

beforeAll(async () => {
  shop = await startStockedShop()
  admin = await shop.admin()
  order = await shop.buy(await shop.customer())
}, 60_000)
afterAll(() => shop?.close())

test('what is refused because of orders names these by the numbers that the console searches', async () => {
  const { serverId, rules } = shop
  const named = { data: { params: { orders: order.publicId }, orders: [order.id] } }
  const removed = await admin.delete(`/api/servers/servers/${serverId}/`)
  expect(removed).toMatchObject({
    code: 409,
    msg: `Addresses of this server are still leased by 1 order: ${order.publicId}`,
    ...named
  })
  expect(await admin.get(`/api/servers/servers/${serverId}/plan/?action=delete`)).toMatchObject({
    code: 409,
    msg: removed.msg,
    ...named
  })
  expect(await admin.delete(`/api/servers/acls/${rules[0]}/`)).toMatchObject({
    code: 409,
    msg: `This access rule is still in use by 1 order: ${order.publicId}`,
    ...named
  })
  const found = await admin.get<Page<Order>>(`/api/orders/order_list/?search=${order.publicId}`)
  expect(found.data.data.map(({ id }) => id)).toEqual([order.id])
})

test('of more orders than a sentence takes the first are named', async () => {
  const buyer = await shop.customer()
  const bought = [order]
  for (let count = 0; count < 11; count++) bought.push(await shop.buy(buyer))
  const names = bought.slice(0, 10).map(({ publicId }) => publicId)
  const refused = await admin.delete<{ orders: number[] }>(`/api/servers/servers/${shop.serverId}/`)
  expect(refused.msg).toBe(`Addresses of this server are still leased by 12 orders: ${names.join(', ')}, …`)
  expect(refused.data.orders).toHaveLength(12)
}, 30_000)

test('the audit log names an order by its number, and is searched and filtered by it', async () => {
  const { data: shown } = await admin.get<Order>(`/api/orders/order_list/${order.id}/`)
  const credited = { days: 1, note: 'late', ends_at: shown.expired_at }
  expect((await admin.post(`/api/orders/order_list/${order.id}/credit/`, credited)).code).toBe(2000)
  const entries = async (query: string) =>
    (await admin.get<Page<AuditEntry>>(`/api/settings/audit_log/?${query}`)).data.data
  const credit = { action: 'order.credit', target_id: String(order.id), target_name: order.publicId }
  for (const query of [
    `search=${order.publicId}`,
    `target_type=order&target_id=${order.publicId}`,
    `target_type=order&target_id=${order.id}`,
    `search=order ${order.id}`
  ])
    expect(await entries(query)).toMatchObject([credit])
  expect(await entries('search=NL-of-nobody')).toEqual([])
  // Other kinds have no name except their id.
  expect((await entries('target_type=user')).every(({ target_name }) => target_name === null)).toBe(true)
})
