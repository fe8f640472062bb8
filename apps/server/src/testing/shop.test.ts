import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from './shop.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({})
})
afterAll(() => shop.close())

test('without routes of its own it is the whole shop', async () => {
  const admin = await shop.admin()
  expect((await admin.get('/api/users/u/')).code).toBe(2000)
  expect((await shop.visitor().get('/api/products/products/')).code).toBe(2000)
  expect((await shop.visitor().get('/api/settings/config')).code).not.toBe(2000)
})
