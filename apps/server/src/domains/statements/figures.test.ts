import { setTimeout as pause } from 'node:timers/promises'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import type { Database, Transaction } from '../../infra/db/client.ts'
import { ORDERED } from '../../testing/ordered.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { countKept, figuresOf, foldFigures, statistics } from '../orders/figures.ts'
import { orders } from '../orders/tables.ts'
import { compareFigures, countedFigures } from './books-check.ts'
import { payments } from '../payments/tables.ts'
import { addPlan } from '../../testing/rows.ts'

/** The same as `statistics`, but counted. */
const countStatistics = (db: Database, now: Date) => figuresOf(db, countedFigures, now)

const NOW = new Date('2026-05-15T00:30:00Z')

let shop: TestShop
let db: Database

beforeAll(async () => {
  shop = await startTestShop({ routes: () => undefined })
  db = shop.ctx.db
  await addPlan(shop.ctx)
  await shop.customer()
})
afterAll(() => shop?.close())

let count = 0
async function place(
  tx: Pick<Database, 'insert'> = db,
  change: Partial<typeof orders.$inferInsert> = {}
): Promise<number> {
  count += 1
  const [row] = await tx
    .insert(orders)
    .values({
      publicId: `NL-${count}`,
      userId: 1,
      productId: 1,
      variantId: 1,
      serverGroupId: 1,
      ...ORDERED,
      productName: `Plan ${count % 3}`,
      rules: [1],
      reservedUntil: NOW,
      createdAt: NOW,
      proxyUsername: `p${count}`,
      ...change
    })
    .returning({ id: orders.id })
  if (!row) throw new Error('nothing was inserted')
  return row.id
}

const pay = (tx: Pick<Database, 'insert'>, orderId: number, change: Partial<typeof payments.$inferInsert> = {}) => {
  count += 1
  return tx.insert(payments).values({
    orderId,
    platformOrderId: `pay${count}`,
    platformOrderNumber: '#1',
    kind: 'renewal',
    amount: '20.01',
    discount: '0',
    accepted: true,
    createdAt: NOW,
    ...change
  })
}

/** What can happen to an order, each in a transaction that locks the order, like the commands. */
const events: ((tx: Transaction, id: number, at: Date) => Promise<unknown>)[] = [
  tx => place(tx),
  (tx, _id, at) => place(tx, { createdAt: at }),
  async (tx, id, at) => {
    await tx.update(orders).set({ paidAt: at, payAmount: '20.00' }).where(eq(orders.id, id))
    await pay(tx, id, { createdAt: at })
  },
  (tx, id, at) => pay(tx, id, { createdAt: at, accepted: false, amount: '0.07' }),
  (tx, id) => tx.update(payments).set({ accepted: true }).where(eq(payments.orderId, id)),
  (tx, id) =>
    tx
      .update(payments)
      .set({ amount: sql`${payments.amount} + 0.03` })
      .where(eq(payments.orderId, id)),
  (tx, id) => tx.update(orders).set({ state: 'failed', failCode: 'underpaid' }).where(eq(orders.id, id)),
  (tx, id, at) => tx.update(orders).set({ deletedAt: at }).where(eq(orders.id, id)),
  (tx, id) => tx.update(orders).set({ deletedAt: null }).where(eq(orders.id, id)),
  async (tx, id, at) => {
    // A payment restores a deleted order.
    await pay(tx, id, { createdAt: at })
    await tx.update(orders).set({ deletedAt: null, paidAt: at, payAmount: '1.00' }).where(eq(orders.id, id))
  },
  async (tx, id) => {
    await tx.delete(payments).where(eq(payments.orderId, id))
    await tx.delete(orders).where(eq(orders.id, id))
  }
]

async function expectSame() {
  expect(await compareFigures(db)).toEqual([])
  for (const now of [NOW, new Date(NOW.getTime() - DAY), new Date('2026-06-01T00:00:00Z')]) {
    expect(await statistics(db, now)).toEqual(await countStatistics(db, now))
  }
  expect(await countKept(db)).toBe((await countStatistics(db, NOW)).total)
}

test('after a random history, many at once, the kept figures are the counted ones', async () => {
  // A fixed sequence, so that a failure repeats.
  let seed = 42
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % below
  }
  await Promise.all(Array.from({ length: 20 }, () => place()))
  const { rows } = await db.execute<{ id: number }>(sql`select id from orders`)
  const ids = rows.map(({ id }) => id)
  const work = Array.from({ length: 400 }, () => ({
    event: events[random(events.length)],
    id: ids[random(ids.length)] ?? 0,
    at: new Date(NOW.getTime() - random(50) * 13 * HOUR)
  }))
  await Promise.all(
    Array.from({ length: 8 }, async (_, worker) => {
      for (let next = worker; next < work.length; next += 8) {
        const { event, id, at } = work[next] ?? {}
        if (!event || !id || !at) continue
        await db.transaction(async tx => {
          // A removed order has no history any more.
          const [held] = await tx.select().from(orders).where(eq(orders.id, id)).for('update')
          if (held) await event(tx, id, at)
        })
        if (next % 40 === 0) await foldFigures(shop.ctx)
      }
    })
  )
  expect((await countStatistics(db, NOW)).total).toBeGreaterThan(20)
  await expectSame()
  await place()
  expect(await foldFigures(shop.ctx)).toBeGreaterThan(0)
  expect(await foldFigures(shop.ctx)).toBe(0)
  await expectSame()
  const { rows: names } = await db.execute<{ name: string }>(sql`select name from order_product_names order by name`)
  expect(names.map(({ name }) => name)).toEqual(['Plan 0', 'Plan 1', 'Plan 2'])
})

test('a payment that comes while its order is being deleted counts, or does not, with the order', async () => {
  for (const paymentFirst of [true, false]) {
    const id = await place()
    const pays = async (tx: Transaction) => void (await pay(tx, id))
    const deletes = async (tx: Transaction) =>
      void (await tx.update(orders).set({ deletedAt: NOW }).where(eq(orders.id, id)))
    const [first, second] = paymentFirst ? [pays, deletes] : [deletes, pays]
    let later: Promise<void> | undefined
    await db.transaction(async tx => {
      await first(tx)
      later = db.transaction(second)
      await waitUntilBlocked()
    })
    await later
    await expectSame()
  }
})

test('orders placed and paid at once do not wait for each other', async () => {
  const id = await place()
  await db.transaction(async one => {
    await place(one)
    await pay(one, id)
    await db.transaction(async other => {
      await other.execute(sql`set local lock_timeout = '2s'`)
      await pay(other, await place(other))
      await foldFigures(shop.ctx)
    })
  })
  await expectSame()
})

test('a difference is found, by its day', async () => {
  await db.execute(sql`update order_figures set orders = orders + 2, revenue = revenue - 1.5 where day = '2026-05-15'`)
  expect(await compareFigures(db)).toEqual([{ day: '2026-05-15', orders: -2, paid: 0, revenue: '1.50' }])
  await db.execute(sql`update order_figures set orders = orders - 2, revenue = revenue + 1.5 where day = '2026-05-15'`)
  await expectSame()
})

async function waitUntilBlocked() {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await pause(10)) {
    const { rows } = await db.execute(
      sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    )
    if (rows.length > 0) return
  }
  throw new Error('nobody waits')
}
