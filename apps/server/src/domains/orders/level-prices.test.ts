import { afterDiscount, fromCents, type LevelCode, type LevelDiscount, type Order, type Page } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../../../scripts/testing/tier.ts'
import { demoPlans } from '../../../../sandbox/src/shopify/catalogue.ts'
import { priceCheckout } from '../../../../sandbox/src/shopify/pricing.ts'
import { freshState, productsOf, type PlatformState } from '../../../../sandbox/src/shopify/state.ts'
import { inState, ordersOf, pay, type Placed } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type TestStack } from '../../testing/test-stack.ts'
import { seedLevelCodes } from '../rewards/index.ts'

type Priced = { amount: string; discount: LevelDiscount | null }
type Renewal = { id: number; checkout_url: string; price: string; discount: LevelDiscount | null }

let stack: TestStack
let buyer: TestClient
let admin: TestClient
let gold: LevelCode

beforeAll(async () => {
  // The stand-in's own price, so that the order costs the same there.
  stack = await startTestStack({ range: '127.23.0.0/24', price: demoPlans[0]?.variants[0]?.price ?? '' })
  await seedLevelCodes(stack.ctx)
  const shop = await stack.startShop()
  buyer = await stack.customer(shop.url, 'holder1')
  admin = await stack.admin(shop.url, 'boss1')
  const levels = await admin.get<Page<LevelCode>>('/api/rewards/level_code/')
  const found = levels.data.data.find(({ level }) => level === 3)
  if (!found) throw new Error('there is no third level')
  gold = found
  await stack.ctx.db.execute(sql`update users set level_points = 10000 where username = 'holder1'`)
}, 120_000)
afterAll(() => stack?.close())

const setGold = async (discount: string, discount_type: 'amount' | 'percent') => {
  const form = { discount, discount_type, code: 'GOLD', point: gold.point }
  expect(await admin.put(`/api/rewards/level_code/${gold.id}/`, form)).toMatchObject({ code: 2000 })
}
const createThere = async () => {
  await admin.post('/api/rewards/codes/on_platform/', { kind: 'level_code', id: gold.id, act: 'create' })
  await stack.drain()
}
const own = async () => (await buyer.get<LevelDiscount | null>('/api/rewards/level_discount/')).data
const buy = async (key: string) => {
  const body = {
    product_id: stack.productId,
    quantity: 8,
    option_selected: { option1: 'New York', acl_selected: [stack.rules[0]] }
  }
  const placed = await buyer.post<Placed & Priced>('/api/orders/checkout', body, { 'idempotency-key': key })
  if (placed.code !== 2000) throw new Error(placed.msg)
  return placed.data
}
const listed = async ({ id }: { id: number }): Promise<Order> => {
  const found = (await ordersOf(buyer)).find(order => order.id === id)
  if (!found) throw new Error(`order ${id} is not listed`)
  return found
}
const renew = async ({ id }: { id: number }) =>
  (await buyer.post<Renewal>(`/api/orders/order_list/${id}/order-renew-checkout/`)).data

/** The price on the platform's checkout page. */
async function charged(checkoutUrl: string): Promise<string | undefined> {
  const page = await (await fetch(checkoutUrl)).text()
  return /Pay \$([\d.]+)/.exec(page)?.[1]
}

test('what a level takes off is told with every price that a checkout link leads to, and the link charges that', async () => {
  await setGold('3', 'percent')
  await createThere()
  const discount = { level: 3, discount: '3.00', discount_type: 'percent' as const }
  expect(await own()).toEqual(discount)

  const placed = await buy('level-1')
  expect(placed.discount).toEqual(discount)
  const due = afterDiscount(placed.amount, discount)
  expect(due).not.toBe(placed.amount)
  const { rows } = await stack.ctx.db.execute(sql`
    select data -> 'data' ->> 'amount' as amount from pgboss.job where data ->> 'key' = ${`received:${placed.id}`}`)
  expect(rows).toEqual([{ amount: `${due} USD` }])
  expect(await charged(placed.checkout_url)).toBe(due)
  expect(await buy('level-1')).toEqual(placed)
  expect(await listed(placed)).toMatchObject({ amount: placed.amount, discount, state: 'placed' })
  const seen = await admin.get<Page<Order>>(`/api/orders/order_list/?id=${placed.id}`)
  expect(seen.data.data).toMatchObject([{ amount: placed.amount, discount }])

  await pay(placed.checkout_url)
  const paid = await inState(stack, buyer, placed.order_id, 'delivered')
  expect(paid).toMatchObject({ amount: placed.amount, pay_amount: due, discount: null })

  const one = await renew(placed)
  expect(one.discount).toEqual(discount)
  expect(await charged(one.checkout_url)).toBe(afterDiscount(one.price, discount))
  const many = await buyer.post<Renewal[]>('/api/orders/renew/', { order_ids: [placed.id] })
  expect(many.data).toEqual([{ ...one, id: placed.id }])
})

test('a code that the platform is not known to have as it is promises nothing, also to orders that carry it', async () => {
  await setGold('2.00', 'amount')
  await createThere()
  const placed = await buy('level-2')
  expect(placed.discount).toEqual({ level: 3, discount: '2.00', discount_type: 'amount' })
  expect(await charged(placed.checkout_url)).toBe(
    afterDiscount(placed.amount, { discount: '2', discount_type: 'amount' })
  )

  // Edited, but not yet compared with the platform.
  await setGold('4', 'percent')
  expect(await own()).toBeNull()
  expect((await listed(placed)).discount).toBeNull()
  const waiting = await buy('level-3')
  expect(waiting.discount).toBeNull()
  expect(waiting.checkout_url).toContain('discount=GOLD')

  await stack.drain()
  const known = { level: 3, discount: '4.00', discount_type: 'percent' }
  expect(await own()).toEqual(known)
  expect((await listed(placed)).discount).toEqual(known)

  // Their links do not have another code of the same level.
  await stack.ctx.db.execute(sql`update level_codes set code = 'GOLDEN' where code = 'GOLD'`)
  expect((await listed(waiting)).discount).toBeNull()
  await stack.ctx.db.execute(sql`update level_codes set code = 'GOLD', discount = '0' where code = 'GOLDEN'`)
  expect(await own()).toBeNull()
})

test('an order that can no longer be paid promises nothing', async () => {
  await setGold('3', 'percent')
  await stack.drain()
  const placed = await buy('level-4')
  expect((await listed(placed)).discount).not.toBeNull()
  await buyer.post(`/api/orders/order_list/${placed.id}/cancel/`)
  expect(await listed(placed)).toMatchObject({ state: 'cancelled', discount: null })
})

test('every amount and discount come to what the platform charges', () => {
  const [plan] = productsOf(freshState())
  const variant = plan?.variants[0]
  if (!plan || !variant) throw new Error('the demo catalogue is empty')
  const money = (max: number) => fc.integer({ min: 0, max }).map(value => fromCents(BigInt(value)))
  const cart = fc.record({ price: money(2_000_000), quantity: fc.integer({ min: 1, max: 1000 }) })
  const discounts = fc.oneof(
    fc.record({ discount: money(10_000), discount_type: fc.constant('percent' as const) }),
    fc.record({ discount: money(2_000_000), discount_type: fc.constant('amount' as const) })
  )
  fc.assert(
    fc.property(cart, discounts, ({ price, quantity }, discount) => {
      const type = discount.discount_type === 'percent' ? 'percentage' : 'fixed_amount'
      const state: PlatformState = {
        ...freshState(),
        productChanges: { [plan.id]: { ...plan, variants: [{ ...variant, price }] } },
        discountCodes: [{ code: 'GOLD', type, value: discount.discount }]
      }
      const there = priceCheckout(state, { lines: [{ variantId: variant.id, quantity }], discountCodes: ['GOLD'] })
      expect(afterDiscount(there?.linesPrice ?? '', discount)).toBe(there?.totalPrice)
    }),
    runs(200, 5000)
  )
})
