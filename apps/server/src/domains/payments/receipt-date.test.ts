import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Receipts } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { timeOutOrders } from '../orders/index.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
afterAll(() => b?.world.close())

async function receiptOf({ id }: Paid): Promise<string | undefined> {
  const { rows } = await b.db().execute<{ paid_at: string }>(sql`
    select data -> 'data' ->> 'paid_at' as paid_at from pgboss.job
    where name = 'send-mail' and data ->> 'key' = ${`receipt:${id}`}`)
  return rows[0]?.paid_at
}
const iso = (from: Date, milliseconds = 0) => new Date(from.getTime() + milliseconds).toISOString()

test('the receipt of a bank deposit names the day of the payment, not of the checkout', async () => {
  const placed = await b.world.place(b.buyer)
  const at = iso(b.now())
  const paid = { ...b.paymentFor(placed), created_at: at, processed_at: at }
  await b.tell('orders/create', { ...paid, financial_status: 'pending' })
  await b.world.advance(20 * DAY)
  await timeOutOrders(b.world.shop.ctx)
  // It was ordered in time, so that its terms are those of its placing.
  await b.db().execute(sql`update variants set is_active = false where id = ${placed.variantId}`)
  const updated_at = iso(b.now(), -MINUTE)
  const outcome = await b.tell('orders/paid', { ...paid, updated_at })
  await b.db().execute(sql`update variants set is_active = true where id = ${placed.variantId}`)
  expect(outcome).toBe('settled')
  expect(await receiptOf(paid)).toBe(updated_at)
})

test.for([
  { name: 'no time of its change', change: undefined },
  { name: 'a change before its checkout', change: -HOUR },
  { name: 'a change after it was heard of', change: 2 * HOUR }
])('the receipt of a payment with $name names its checkout', async ({ change }) => {
  const placed = await b.world.place(b.buyer)
  const from = b.now()
  const paid = { ...b.paymentFor(placed), processed_at: iso(from) }
  await b.world.advance(HOUR)
  await b.tell('orders/paid', { ...paid, ...(change && { updated_at: iso(from, change) }) })
  expect(await receiptOf(paid)).toBe(iso(from))
})

test('a payment that is heard of a day late counts on the day on which it was paid, everywhere', async () => {
  const placed = await b.world.place(b.buyer)
  const at = iso(b.now())
  const day = at.slice(0, 10)
  const paid = { ...b.paymentFor(placed), created_at: at, processed_at: at, updated_at: at }
  const soldOn = async () => {
    const sales = await (await b.admin.fetch(`/api/home/sales.csv?in_month=${day.slice(0, 7)}`)).text()
    const { rows } = await b.db().execute<{ revenue: string }>(sql`
      select coalesce(sum(revenue), 0)::text as revenue from (
        select day, revenue from order_figures union all select day, revenue from order_figure_deltas) f
      where day = ${day}`)
    return {
      revenue: Number(rows[0]?.revenue),
      purchases: Number(sales.match(new RegExp(`^${day},.*`, 'm'))?.[0].split(',')[3] ?? 0)
    }
  }
  const before = await soldOn()
  await b.world.advance(DAY)
  expect(await b.tell('orders/paid', paid)).toBe('settled')
  const { data } = await b.buyer.get<Receipts>(`/api/orders/order_list/${placed.id}/receipts/`)
  expect(data.receipts.at(-1)?.paid_at).toBe(at)
  expect(await receiptOf(paid)).toBe(at)
  expect(await soldOn()).toEqual({ revenue: before.revenue + 20, purchases: before.purchases + 1 })
})
