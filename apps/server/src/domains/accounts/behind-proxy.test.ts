import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import { accountPorts } from '../../ports.ts'
import { accountRoutes } from './index.ts'
import { loginFailures, users } from './tables.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => accountRoutes(mount, ctx, accountPorts(ctx)),
    // A reverse proxy on this machine, and nobody told the shop.
    config: { trustProxy: false }
  })
})
afterAll(() => shop?.close())

const failing = (key: string) =>
  shop.ctx.db.insert(loginFailures).values(Array.from({ length: 60 }, () => ({ key, at: new Date() })))

test('behind a proxy that TRUST_PROXY does not name, one client’s failures do not lock out the others', async () => {
  const { user } = await shop.customer()
  const login = (ip?: string) =>
    shop
      .visitor(ip === undefined ? {} : { ip })
      .post('/api/auth/login', { username: user.username, password: TEST_PASSWORD })
  await failing('ip:203.0.113.7')
  expect(await login('203.0.113.7')).toMatchObject({ status: 429 })
  // The proxy writes the last entry; what its client made up stands before.
  expect(await login('198.51.100.9, 203.0.113.7')).toMatchObject({ status: 429 })
  expect(await login('203.0.113.8')).toMatchObject({ code: 2000 })
  await failing('ip:127.0.0.1')
  expect(await login('203.0.113.9')).toMatchObject({ code: 2000 })
  expect(await login()).toMatchObject({ status: 429 })
  // Who somebody is stays the connection's own address: the header may be made up.
  const [row] = await shop.ctx.db.select({ ip: users.lastLoginIp }).from(users)
  expect(row?.ip).toBe('127.0.0.1')
})
