import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '@netlet/contract'
import { done } from '../result.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: mount => mount(routes.accounts.adminPassword, async () => done) })
})
afterAll(() => shop?.close())

test('an object with a length that is no number is refused like any other value that fits no schema', async () => {
  const admin = await shop.admin()
  const password = { length: { toString: 'x', valueOf: null } }
  expect((await admin.post('/api/users/u/1/change_password/', { password })).status).toBe(400)
})
