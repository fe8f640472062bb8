import { afterAll, beforeAll, expect, test } from 'vitest'
import { refuse, routes } from '@netlet/contract'
import { done } from '../result.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({
    routes: mount => {
      mount(routes.accounts.adminPassword, async () => done)
      mount(routes.fleet.planAgentSettings, async () => refuse('unavailable'))
    }
  })
})
afterAll(() => shop?.close())

test('an object whose length is no number is refused like any other wrong value', async () => {
  const admin = await shop.admin()
  const password = { length: { toString: 'x', valueOf: null } }
  expect((await admin.post('/api/users/u/1/change_password/', { password })).status).toBe(400)
})

test('the number of reported fields is limited', async () => {
  const admin = await shop.admin()
  const settings = Object.fromEntries(Array.from({ length: 20_000 }, (_, nth) => [`k${nth}`, nth]))
  const reply = await admin.post<{ errors: object }>('/api/servers/servers/1/agent_settings/plan/', { settings })
  expect(reply.status).toBe(400)
  expect(Object.keys(reply.data.errors)).toHaveLength(200)
})
