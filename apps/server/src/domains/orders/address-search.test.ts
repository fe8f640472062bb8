import { and, eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { users } from '../accounts/tables.ts'
import { orderRoutes } from './index.ts'

let shop: TestShop
const PATH = '/api/orders/order_list/'

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) =>
      orderRoutes(mount, ctx, { ordersPaidBy: () => Promise.resolve([]), hasOpenMoney: sql`false` })
  })
})
afterAll(() => shop?.close())

test('who looks up an address by a search of all orders stands in the audit log once, or may not, by role', async () => {
  const looks = () =>
    shop.ctx.db
      .select({ by: auditLog.actorName, address: auditLog.targetId })
      .from(auditLog)
      .where(and(eq(auditLog.action, 'cidr.look_up'), eq(auditLog.targetId, '10.1.0.4')))
  const customer = await shop.customer()
  const staff: Record<string, TestClient> = {}
  for (const operatorRole of ['operations', 'support', 'viewer'] as const) {
    const one = await shop.admin({ username: operatorRole })
    await shop.ctx.db.update(users).set({ operatorRole }).where(eq(users.id, one.user.id))
    staff[operatorRole] = one
  }
  for (const path of [PATH, '/api/orders/search']) {
    for (const query of ['search=10.1.0.4', 'search=10.1.0.4&format=csv', 'search=10.1.0.4&offset=10'])
      expect(await staff['viewer']?.get(`${path}?${query}`)).toMatchObject({
        status: 403,
        data: { reason: 'role_not_allowed' }
      })
    expect(await staff['viewer']?.get(`${path}?search=Metro`)).toMatchObject({ code: 2000 })
  }
  expect(await looks()).toEqual([])
  // An open list reloads.
  for (let n = 0; n < 3; n++)
    expect(await staff['support']?.get(`${PATH}?search=10.1.0.4`)).toMatchObject({ code: 2000 })
  // A look that skips the first page counts too.
  expect(await staff['operations']?.get('/api/orders/search?search=10.1.0.4&offset=1')).toMatchObject({ code: 2000 })
  expect(await customer.get(`${PATH}?search=10.1.0.4`)).toMatchObject({ code: 2000 })
  expect(await looks()).toEqual([
    { by: 'support', address: '10.1.0.4' },
    { by: 'operations', address: '10.1.0.4' }
  ])
})
