import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOrderShop, type OrderShop } from './domains/payments/order-shop.fixture.ts'

let world: OrderShop
beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.93.1.0/28'] })
})
afterAll(() => world?.close())

test.each([
  '/api/orders/order_list/',
  '/api/orders/order_list/?format=csv',
  '/api/orders/export',
  '/api/users/u/',
  '/api/home/sales.csv',
  '/api/home/sales',
  '/api/home/stock'
])('%s is read from the replica, if there is one', async path => {
  const { db } = world.shop.ctx
  const boss = await world.shop.admin()
  const usual = db.readLong
  let reads = 0
  db.readLong = async read => {
    reads += 1
    return read(db)
  }
  try {
    expect((await boss.fetch(path)).status).toBe(200)
  } finally {
    db.readLong = usual
  }
  expect(reads).toBeGreaterThan(0)
})
