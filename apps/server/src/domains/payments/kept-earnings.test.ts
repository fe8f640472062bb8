import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { paidEvent } from '../../testing/buying.ts'
import { deliveryPorts } from '../../workers.ts'
import { users } from '../accounts/tables.ts'
import { runTask } from '../delivery/tasks.ts'
import { decayLevelPoints } from '../rewards/jobs.ts'
import { writeSettings } from '../settings/index.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { one, tell } from './event-row.fixture.ts'

let world: OrderShop
let boss: Buyer
let serial = 0

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  boss = await world.admin('boss')
  await writeSettings(world.shop.ctx, { billing_rate: 1, invite_rebate_rate: 0.1, invite_level_points_per_user: 5 })
}, 120_000)
afterAll(() => world?.close())
afterEach(async () => {
  expect(await wrongBooks(world.shop.ctx.db)).toEqual([])
  expect(await compareFigures(world.shop.ctx.db)).toEqual([])
})

const ALL = { '11': 8, '901': 8 }

async function ordered() {
  serial += 1
  const inviter = await world.customer(`guide${serial}`)
  const buyer = await world.customer(`buyer${serial}`)
  await world.shop.ctx.db.update(users).set({ invitedBy: inviter.user.id }).where(eq(users.id, buyer.user.id))
  const earned = () =>
    one(
      world.shop.ctx,
      sql`select b.level_points::int as points, i.coins::int as coins, i.coins_owed::int as owed
        from users b, users i where b.id = ${buyer.user.id} and i.id = ${inviter.user.id}`
    )
  return { order: await world.place(buyer), buyer, inviter, earned }
}

const refund = (order_id: number, amount: string) =>
  tell(world, 'refunds/create', {
    id: 880_000 + ++serial,
    order_id,
    transactions: [{ kind: 'refund', status: 'success', amount, currency: 'USD' }]
  })
const dispute = (
  id: number,
  order_id: number,
  status: string,
  amount: string,
  where: Pick<OrderShop, 'shop'> = world
) => tell(where, 'disputes/update', { id, order_id, type: 'chargeback', status, amount, currency: 'USD' })

test('a part that is given back takes back the points and coins of that part, once, and the lease goes on', async () => {
  const { order, earned } = await ordered()
  const paid = paidEvent({ publicId: order.publicId, amount: '10000.00', lines: ALL })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  expect(await earned()).toEqual({ points: 10_000, coins: 1000, owed: 0 })
  expect(await refund(paid.id, '9980.00')).toMatchObject({ outcome: 'partly_refunded' })
  expect(await earned()).toEqual({ points: 20, coins: 2, owed: 0 })
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered' })
  expect(await refund(paid.id, '20.00')).toMatchObject({ outcome: 'refunded' })
  expect(await earned()).toEqual({ points: 0, coins: 0, owed: 0 })
})

test('an invitation stays rewarded as long as a payment of the invited customer stands', async () => {
  const { order, buyer, inviter } = await ordered()
  const paid = [order, await world.place(buyer)].map(({ publicId }) =>
    paidEvent({ publicId, amount: '100.00', lines: ALL })
  )
  const reward = () =>
    one(world.shop.ctx, sql`select level_points::int as points from users where id = ${inviter.user.id}`)
  for (const event of paid) await tell(world, 'orders/paid', event)
  expect(await reward()).toEqual({ points: 5 })
  for (const [at, { id }] of paid.entries()) {
    await refund(id, '100.00')
    expect(await reward()).toEqual({ points: at === 0 ? 5 : 0 })
  }
})

test('what is known to have gone back before it settles earns nothing', async () => {
  const { order, earned } = await ordered()
  const paid = paidEvent({ publicId: order.publicId, amount: '10000.00', lines: ALL })
  await refund(paid.id, '9900.00')
  expect(await tell(world, 'orders/paid', paid)).toMatchObject({ outcome: 'partly_refunded' })
  expect(await earned()).toEqual({ points: 100, coins: 10, owed: 0 })
})

test('nor does it if an administrator delivers what is left', async () => {
  const { order, earned } = await ordered()
  const paid = paidEvent({ publicId: order.publicId, amount: '500.00', lines: { '11': 1 } })
  await tell(world, 'orders/paid', paid)
  expect(await refund(paid.id, '480.00')).toMatchObject({ outcome: 'refunded' })
  const asked = await boss.post<{ task_id: string }>(`/api/orders/order_list/${order.id}/devery_order/`)
  const data = { orderId: order.id, taskId: asked.data.task_id, group: 'any' }
  await runTask(world.shop.ctx, deliveryPorts, data)
  expect(await earned()).toEqual({ points: 20, coins: 2, owed: 0 })
})

test('a won chargeback of a part gives its points back, even if it came before the payment', async () => {
  for (const first of [true, false]) {
    const { order, earned } = await ordered()
    const paid = paidEvent({ publicId: order.publicId, amount: '100.00', lines: ALL })
    const id = 990_000 + ++serial
    const events = [() => tell(world, 'orders/paid', paid), () => dispute(id, paid.id, 'needs_response', '99.99')]
    for (const event of first ? events.toReversed() : events) await event()
    expect(await earned()).toEqual({ points: 0, coins: 0, owed: 0 })
    await refund(paid.id, '0.01')
    for (const _ of [1, 2]) await dispute(id, paid.id, 'won', '99.99')
    expect(await earned()).toEqual({ points: 99, coins: 9, owed: 0 })
  }
})

test('a dispute that is won gives back the level points that it took, even if other parts took some before a decay', async () => {
  const { order, earned } = await ordered()
  const paid = paidEvent({ publicId: order.publicId, amount: '10000.00', lines: ALL })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  await refund(paid.id, '5000.00')
  await writeSettings(world.shop.ctx, { level_points_decay_day: 1, level_points_decay_rate: 0.5 })
  await decayLevelPoints({ ...world.shop.ctx, now: () => new Date('2101-02-02T00:00:00Z') })
  expect(await earned()).toMatchObject({ points: 2500 })
  const id = 990_000 + ++serial
  await dispute(id, paid.id, 'needs_response', '5000.00')
  expect(await earned()).toMatchObject({ points: 0 })
  await dispute(id, paid.id, 'won', '5000.00')
  expect(await earned()).toMatchObject({ points: 2500 })
})

test('if several disputes of one payment are won, the last win brings back all that it had earned', async () => {
  for (const won of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0]
  ]) {
    const { order, earned } = await ordered()
    const paid = paidEvent({ publicId: order.publicId, amount: '10000.00', lines: ALL })
    await tell(world, 'orders/paid', paid)
    await world.confirm()
    const disputes = ['4000.00', '10000.00', '10000.00'].map(amount => ({ id: 990_000 + ++serial, amount }))
    for (const { id, amount } of disputes) {
      await world.advance(1000)
      await dispute(id, paid.id, 'needs_response', amount)
    }
    expect(await earned()).toMatchObject({ points: 0 })
    for (const n of won) {
      await world.advance(1000)
      await dispute(disputes[n]?.id ?? 0, paid.id, 'won', disputes[n]?.amount ?? '')
    }
    expect(await earned()).toEqual({ points: 10_000, coins: 1000, owed: 0 })
  }
})

let month = 2
const decays = async () => {
  month += 1
  await writeSettings(world.shop.ctx, { level_points_decay_day: 1, level_points_decay_rate: 0.5 })
  const at = new Date(Date.UTC(2101, month, 2))
  await decayLevelPoints({ ...world.shop.ctx, now: () => at })
}

test('a dispute that took nothing, because another had taken all, gives its part back in either order of the wins', async () => {
  for (const happens of ['ABab', 'ABba', 'BAab', 'BAba']) {
    const { order, earned } = await ordered()
    const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL })
    await tell(world, 'orders/paid', paid)
    await world.confirm()
    const a = (serial += 2) + 990_000
    for (const step of happens) {
      await world.advance(1000)
      const isA = step.toLowerCase() === 'a'
      await dispute(isA ? a : a + 1, paid.id, step < 'a' ? 'needs_response' : 'won', isA ? '20.00' : '5.00')
    }
    expect(await earned(), happens).toEqual({ points: 20, coins: 2, owed: 0 })
  }
})

test('disputes that are won in the same millisecond give back what they took, and no point more', async () => {
  for (const isSecondFirst of [true, false]) {
    const { order, earned } = await ordered()
    const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL })
    await tell(world, 'orders/paid', paid)
    await world.confirm()
    await decays()
    expect(await earned()).toMatchObject({ points: 10 })
    const ids = [1, 2].map(() => 990_000 + ++serial)
    for (const id of ids) {
      await world.advance(1000)
      await dispute(id, paid.id, 'needs_response', '5.00')
    }
    await world.advance(1000)
    const { ctx } = world.shop
    const at = ctx.now()
    const still = { shop: { ...world.shop, ctx: { ...ctx, now: () => at } } }
    for (const id of isSecondFirst ? ids.toReversed() : ids) await dispute(id, paid.id, 'won', '5.00', still)
    expect(await earned()).toEqual({ points: 10, coins: 2, owed: 0 })
  }
})

// A capital opens a dispute, its small letter wins it. '-' is a decay by half, 'R' a refund of a quarter.
test.for([
  ['B-Aab', 6250],
  ['B-Aba', 6250],
  ['BA-ab', 10_000],
  ['AB-ba', 10_000],
  ['ABa-b', 6250],
  ['AR-a', 7500],
  ['ARa-Cc', 3750],
  ['R-Aa', 3750],
  ['ABa-CRbc', 3750]
] as const)(
  'after %s, disputes that were won have given back what they took, and a refund has not',
  async ([happens, points]) => {
    const { order, earned } = await ordered()
    const paid = paidEvent({ publicId: order.publicId, amount: '10000.00', lines: ALL })
    await tell(world, 'orders/paid', paid)
    await world.confirm()
    const first = (serial += 5) + 990_000
    for (const step of happens) {
      await world.advance(1000)
      if (step === '-') await decays()
      else if (step === 'R') await refund(paid.id, '2500.00')
      else {
        const n = 'abc'.indexOf(step.toLowerCase())
        const amount = n === 1 ? '2500.00' : '10000.00'
        await dispute(first - n, paid.id, step < 'a' ? 'needs_response' : 'won', amount)
      }
    }
    expect(await earned()).toMatchObject({ points })
  }
)
