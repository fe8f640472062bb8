import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { matchingIds, paginate } from '../../infra/list/index.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { rowsVisited } from '../../testing/rows-visited.ts'
import { vacuumFully } from '../../testing/vacuum.ts'
import { addGroup, addOrders } from '../inventory/inventory.fixture.ts'
import { orders } from '../orders/tables.ts'
import { userPaymentList } from './payments.ts'
import { payments } from '../payments/tables.ts'

const ORDERS = 12_000

let database: TestDatabase
let db: Database
let ofMany: number[]
let ofFew: number[]

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
  const group = await addGroup(db, 'all', [])
  ofFew = await addOrders(db, group, 2)
  ofMany = await addOrders(db, group, ORDERS)
  await db.execute(sql`insert into payments (created_at, order_id, platform_order_id, platform_order_number, kind, amount, discount, accepted)
    select now(), id, 'p' || id, '#' || id, 'purchase', 1, 0, false from orders order by id`)
  await vacuumFully(db, 'orders', 'payments')
}, 120_000)
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const query = { limit: 10, offset: 0, sort_by: 'id', sort_order: 'desc' } as const
const userOf = async (orderId: number | undefined) => {
  const [row] = await db
    .select({ id: orders.userId })
    .from(orders)
    .where(eq(orders.id, orderId ?? 0))
  return row?.id ?? 0
}
const totalOf = async (userId: number) => {
  const page = await paginate(db, userPaymentList(userId), query)
  return page.ok && [page.data.total, page.data.total_exact]
}

test('a page of the payments of a user with many orders visits no more rows than it shows', async () => {
  const list = userPaymentList(await userOf(ofMany[0]))
  const { rows, told } = await rowsVisited(db, watched => matchingIds(watched, list, query, { limit: 10 }))
  const [newest] = await db
    .select({ id: payments.id })
    .from(payments)
    .where(eq(payments.orderId, ofMany.at(-1) ?? 0))
  expect(told[0]).toBe(newest?.id)
  expect(told).toHaveLength(10)
  expect(rows).toBeLessThan(50)
  expect(await totalOf(await userOf(ofMany[0]))).toEqual([10_000, false])
})

test('a payment is of the user whose order it pays, also once it is applied to another one', async () => {
  const [few, many] = [await userOf(ofFew[0]), await userOf(ofMany[0])]
  expect(await totalOf(few)).toEqual([2, true])
  const moved = eq(payments.orderId, ofMany[5] ?? 0)
  const [payment] = await db
    .update(payments)
    .set({ orderId: ofFew[1] ?? 0 })
    .where(moved)
    .returning()
  expect([payment?.userId, await totalOf(few)]).toEqual([few, [3, true]])
  const again = eq(payments.id, payment?.id ?? 0)
  const [free] = await db.update(payments).set({ orderId: null }).where(again).returning()
  expect([free?.userId, await totalOf(few)]).toEqual([null, [2, true]])
  const [back] = await db
    .update(payments)
    .set({ orderId: ofMany[5] ?? 0 })
    .where(again)
    .returning()
  expect(back?.userId).toBe(many)
})
