import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { excludeRules } from '../inventory/index.ts'
import { writeSettings } from '../settings/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../payments/order-shop.fixture.ts'

let open: OrderShop
let buyer: Buyer

beforeAll(async () => {
  // Two ranges of 128 addresses. The first rule is sold on both, the second on the first, the third on the second.
  open = await startOrderShop({ ranges: ['127.91.0.0/25', '127.91.1.0/25'], ruleCount: 3 })
  await writeSettings(open.shop.ctx, { max_new_customer_addresses: 1024 })
  const { db } = open.shop.ctx
  const { rows } = await db.execute<{ id: number }>(sql`select id from cidrs order by cidr`)
  const [first = 0, second = 0] = rows.map(({ id }) => id)
  const [, two = 0, three = 0] = open.rules
  await db.transaction(tx => excludeRules({ tx }, first, [three]))
  await db.transaction(tx => excludeRules({ tx }, second, [two]))
  buyer = await open.customer('short')
})
afterAll(() => open?.close())

const ask = (quantity: number, rules: number[]) => buyer.post('/api/orders/checkout', open.wanted(quantity, rules))

test('a refusal names each rule that is short, and what there is of it', async () => {
  const [one = 0, two = 0] = open.rules
  expect(await ask(136, [one, two])).toMatchObject({
    status: 409,
    msg: 'Out of stock',
    data: {
      reason: 'out_of_stock',
      params: { rules: 'Rule 2', stock: 128 },
      stock: 128,
      short: [{ acl_id: two, acl_name: 'Rule 2', stock: 128 }]
    }
  })
  const both = await ask(512, [one, two])
  expect(both.data).toMatchObject({ params: { rules: 'Rule 1, Rule 2', stock: 128 } })
})

test('rules that have enough, but not of the same addresses, are short in combination', async () => {
  const [, two = 0, three = 0] = open.rules
  expect(await ask(8, [two, three])).toMatchObject({
    status: 409,
    msg: 'Out of stock',
    data: { reason: 'out_of_stock', params: { rules: 'the combination', stock: 0 }, stock: 0, short: [] }
  })
})

test('what others hold counts as gone', async () => {
  const [one = 0] = open.rules
  await open.place(buyer, 64, [one])
  expect((await ask(256, [one])).data).toMatchObject({ params: { rules: 'Rule 1', stock: 192 } })
  expect((await ask(192, [one])).code).toBe(2000)
})
