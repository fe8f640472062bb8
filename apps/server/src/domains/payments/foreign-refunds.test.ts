import type { InboxEntry } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { paidEvent } from '../../testing/buying.ts'
import { deliveryPorts } from '../../workers.ts'
import { runTask } from '../delivery/tasks.ts'
import { timeOutOrders, type OrderRow } from '../orders/index.ts'
import { compareFigures } from './figures.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { platformOrder, work } from './platform-orders.fixture.ts'
import { askForAllRefunds, readForeignRefunds } from './read-foreign-refunds.ts'
import { tell } from './told.fixture.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer
let ids = 770_000

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer')
  boss = await world.admin('boss1')
}, 120_000)
afterAll(async () => {
  expect(await compareFigures(world.shop.ctx.db)).toEqual([])
  await world?.close()
})
beforeEach(async () => {
  world.platformOrders.isAway = false
  await world.endAll()
})

const ALL = { '11': 8, '901': 8 }
const payment = ({ publicId }: OrderRow, lines: Record<string, number> = ALL) =>
  paidEvent({ publicId, amount: '20.00', lines })
const refundOf = (id: number, order_id: number, amount: string, currency?: string) =>
  tell(world, 'refunds/create', {
    id,
    order_id,
    transactions: [{ kind: 'refund', status: 'success', amount, ...(currency ? { currency } : {}) }]
  })
const foreignRefund = (id: number, order_id: number) => refundOf(id, order_id, '15.40', 'GBP')
const says = (paid: ReturnType<typeof payment>, refunds: { id: number; amount: string }[]) =>
  world.platformOrders.known.set(String(paid.id), platformOrder(paid, refunds))
const entryOf = async (id: number) => (await boss.get<{ entry: InboxEntry }>(`/api/payments/inbox/${id}/`)).data.entry
const act = async (id: number, action: string, body: object) =>
  boss.post(`/api/payments/inbox/${id}/${action}/`, { version: (await entryOf(id)).version, ...body })
const deliver = ({ id }: OrderRow) => boss.post<{ task_id: string }>(`/api/orders/order_list/${id}/devery_order/`)
const HELD = { status: 409, data: { reason: 'refund_amount_unknown', params: { amount: '15.40 GBP' } } }

test('a refund told in the buyer’s currency takes nothing from what works until the platform says what it was in the shop’s', async () => {
  for (const [amount, currency] of [
    ['15.40', 'GBP'],
    ['150.00', 'JPY']
  ] as const) {
    const order = await world.place(buyer)
    const paid = payment(order)
    const id = (ids += 1)
    await tell(world, 'orders/paid', paid)
    await world.confirm()
    expect(await refundOf(id, paid.id, amount, currency)).toMatchObject({ outcome: 'foreign_refund', unresolved: true })
    expect(await refundOf(id, paid.id, amount, currency)).toMatchObject({ outcome: 'duplicate' })
    expect(await world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
    const all = currency === 'GBP'
    says(paid, [{ id, amount: all ? '20.00' : '1.00' }])
    await work(world)
    expect(await world.row(order.id)).toMatchObject(
      all ? { state: 'refunded' } : { state: 'delivered', refundedAmount: '1.00' }
    )
    expect(await refundOf(id, paid.id, amount, currency)).toMatchObject({ outcome: 'duplicate' })
  }
})

test('a payment that comes after such a refund is held, shown, and not delivered by hand, until the platform says how much went back', async () => {
  for (const [back, ended] of [
    ['5.00', { state: 'delivering', refundedAmount: '5.00' }],
    ['20.00', { state: 'placed', paidAt: null }]
  ] as const) {
    const order = await world.place(buyer)
    const paid = payment(order)
    const id = (ids += 1)
    const refund = await foreignRefund(id, paid.id)
    expect(refund).toMatchObject({ outcome: 'foreign_refund', unresolved: true })
    const told = await tell(world, 'orders/paid', paid)
    expect(told).toMatchObject({ outcome: 'refund_amount_unknown', unresolved: true })
    expect(await world.row(order.id)).toMatchObject({ state: 'failed', failCode: 'refund_amount_unknown' })
    expect(await deliver(order)).toMatchObject(HELD)
    expect(await act(told.id, 'apply', { order: order.publicId })).toMatchObject(HELD)
    expect(await entryOf(refund.id)).toMatchObject({ unresolved: true })
    says(paid, [{ id, amount: back }])
    await work(world)
    expect(await world.row(order.id)).toMatchObject(ended)
    for (const event of [refund.id, told.id]) expect(await entryOf(event)).toMatchObject({ unresolved: false })
  }
})

test('it stays held while the platform is away for an hour, of which the administrators hear once, and then decides', async () => {
  const order = await world.place(buyer)
  const paid = payment(order)
  const id = (ids += 1)
  await foreignRefund(id, paid.id)
  await tell(world, 'orders/paid', paid)
  says(paid, [{ id, amount: '5.00' }])
  world.platformOrders.isAway = true
  for (let minutes = 0; minutes <= 65; minutes += 5) {
    await askForAllRefunds(world.shop.ctx)
    await work(world)
    await world.advance(5 * MINUTE)
  }
  await timeOutOrders(world.shop.ctx)
  expect(await world.row(order.id)).toMatchObject({ state: 'failed', failCode: 'refund_amount_unknown' })
  expect(await deliver(order)).toMatchObject(HELD)
  const { rows } = await world.shop.ctx.db.execute(
    sql`select distinct data ->> 'key' as key from pgboss.job where name = 'raise-notice' and data ->> 'key' like 'refund-amount:%'`
  )
  expect(rows).toEqual([{ key: `refund-amount:foreign:${id}` }])
  world.platformOrders.isAway = false
  await askForAllRefunds(world.shop.ctx)
  await work(world)
  expect(await world.row(order.id)).toMatchObject({ state: 'delivering', refundedAmount: '5.00' })
})

test('a platform that answers twice, and at once, decides once', async () => {
  const order = await world.place(buyer)
  const paid = payment(order)
  const id = (ids += 1)
  await foreignRefund(id, paid.id)
  await tell(world, 'orders/paid', paid)
  says(paid, [{ id, amount: '5.00' }])
  for (let round = 0; round < 2; round++) {
    await Promise.all([1, 2, 3].map(() => readForeignRefunds(world.shop.ctx, { platformOrderId: String(paid.id) })))
    await work(world)
  }
  expect(await world.row(order.id)).toMatchObject({ state: 'delivering', refundedAmount: '5.00' })
})

test('a refund that was not made after all holds nothing any more, and its payment settles; one that is only not listed yet still holds', async () => {
  for (const refunds of [[], [{ id: ids + 2, amount: '0.00' }]]) {
    const order = await world.place(buyer)
    const paid = payment(order)
    ids += 1
    const refund = await foreignRefund(ids, paid.id)
    await tell(world, 'orders/paid', paid)
    says(paid, refunds)
    await work(world)
    expect(await world.row(order.id)).toMatchObject({ state: 'failed' })
    await world.advance(11 * MINUTE)
    await askForAllRefunds(world.shop.ctx)
    await work(world)
    expect(await world.row(order.id)).toMatchObject({ state: 'delivering', refundedAmount: '0.00' })
    expect(await entryOf(refund.id)).toMatchObject({ unresolved: false })
    expect(await foreignRefund(ids, paid.id)).toMatchObject({ outcome: 'duplicate' })
  }
})

test('a failed order is not delivered after such a refund of its payment, however long ago, nor where that was asked for before', async () => {
  const [held, asked] = [await world.place(buyer), await world.place(buyer)]
  const payments = [held, asked].map(order => payment(order, { '11': 8 }))
  for (const paid of payments) await tell(world, 'orders/paid', paid)
  const request = await deliver(asked)
  for (const paid of payments) await foreignRefund((ids += 1), paid.id)
  expect(await deliver(held)).toMatchObject(HELD)
  await world.advance(HOUR)
  expect(await deliver(held)).toMatchObject(HELD)
  await runTask(world.shop.ctx, deliveryPorts, { orderId: asked.id, taskId: request.data.task_id })
  expect(await world.row(asked.id)).toMatchObject({
    state: 'failed',
    task: null,
    taskErrorCode: 'refund_amount_unknown',
    taskErrorParams: { amount: '15.40 GBP' }
  })
})

test('an order is not reopened while the amount of a refund of its payment is unknown', async () => {
  const order = await world.place(buyer)
  const paid = payment(order)
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  const dispute = (status: string) =>
    tell(world, 'disputes/update', { id: 4711, order_id: paid.id, type: 'chargeback', status, amount: '20.00' })
  await dispute('needs_response')
  await world.confirm()
  await dispute('won')
  const id = (ids += 1)
  await foreignRefund(id, paid.id)
  const reopen = () => boss.post(`/api/orders/order_list/${order.id}/reopen/`, {})
  expect(await reopen()).toMatchObject(HELD)
  says(paid, [{ id, amount: '1.00' }])
  await work(world)
  expect(await reopen()).toMatchObject({ code: 2000 })
})

test('Refund is refused while money of the payment is gone of which nobody knows how much, told before the payment or after it', async () => {
  const refund = ({ id }: OrderRow) => boss.post(`/api/orders/order_list/${id}/refund/`, {})
  const plan = ({ id }: OrderRow) => boss.get(`/api/orders/order_list/${id}/refund/`)
  for (const isBefore of [true, false])
    for (const disputed of [true, false]) {
      const order = await world.place(buyer)
      const paid = payment(order)
      const id = (ids += 1)
      const gone = () =>
        disputed
          ? tell(world, 'disputes/create', {
              id,
              order_id: paid.id,
              type: 'chargeback',
              status: 'needs_response',
              amount: '15.40',
              currency: 'GBP'
            })
          : foreignRefund(id, paid.id)
      const pay = () => tell(world, 'orders/paid', paid)
      const told = isBefore ? [await gone(), await pay()][0] : [await pay(), await gone()][1]
      const made = world.refundsMade.length
      expect(await plan(order)).toMatchObject(HELD)
      expect(await refund(order)).toMatchObject(HELD)
      expect(world.refundsMade).toHaveLength(made)
      // An administrator who has looked decides.
      expect(await act(told?.id ?? 0, 'ignore', { note: 'looked at' })).toMatchObject({ code: 2000 })
      expect(await refund(order)).toMatchObject({ code: 2000 })
      await world.endAll()
    }
})

test('a renewal that was refunded so before it came adds no time until the amount is known', async () => {
  const order = await world.place(buyer)
  await world.pay(order)
  await world.confirm()
  const { expiredAt } = await world.row(order.id)
  const renewal = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, renewal: true })
  const id = (ids += 1)
  await foreignRefund(id, renewal.id)
  const told = await tell(world, 'orders/paid', renewal)
  expect(told).toMatchObject({ outcome: 'refund_amount_unknown', unresolved: true })
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered', expiredAt })
  says(renewal, [{ id, amount: '5.00' }])
  await work(world)
  const renewed = await world.row(order.id)
  expect(renewed.expiredAt?.getTime()).toBeGreaterThan(expiredAt?.getTime() ?? 0)
  expect(renewed.refundedAmount).toBe('5.00')
  expect(await entryOf(told.id)).toMatchObject({ unresolved: false })
})

test('an administrator who ends the event of such a refund may deliver; one who marks it as refunded ends a payment that is yet to come', async () => {
  const order = await world.place(buyer)
  const paid = payment(order)
  const refund = await foreignRefund((ids += 1), paid.id)
  await tell(world, 'orders/paid', paid)
  expect(await act(refund.id, 'ignore', { note: 'a fault of the platform' })).toMatchObject({ code: 2000 })
  expect(await world.row(order.id)).toMatchObject({ state: 'failed' })
  expect(await deliver(order)).toMatchObject({ code: 2000 })

  const other = await world.place(buyer)
  const late = payment(other)
  const back = await foreignRefund((ids += 1), late.id)
  expect(await act(back.id, 'refunded', { note: 'all of it' })).toMatchObject({ code: 2000 })
  expect(await tell(world, 'orders/paid', late)).toMatchObject({ outcome: 'paid_back' })
})

test('what the platform gave back of something else than ours ends by itself', async () => {
  const sale = { ...paidEvent({ publicId: 'none', amount: '20.00', lines: { '999': 1 } }), note_attributes: [] }
  const refund = await foreignRefund((ids += 1), sale.id)
  says(sale, [{ id: ids, amount: '20.00' }])
  await work(world)
  expect(await entryOf(refund.id)).toMatchObject({ unresolved: false })
})

test('such a refund that the console asked for is decided by who asked, by the id of the platform’s answer', async () => {
  const order = await world.place(buyer)
  const paid = payment(order)
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  expect(await boss.post(`/api/orders/order_list/${order.id}/refund/`, { amount: '4.00' })).toMatchObject({
    code: 2000
  })
  const made = world.refundsMade.at(-1)?.id ?? 0
  const other = await foreignRefund((ids += 1), paid.id)
  expect(await entryOf(other.id)).toMatchObject({ unresolved: true, resolved_by: null })
  const own = await foreignRefund(made, paid.id)
  expect(await entryOf(own.id)).toMatchObject({ unresolved: false, resolution: 'refunded', resolved_by: 'boss1' })
  says(paid, [
    { id: ids, amount: '3.00' },
    { id: made, amount: '3.98' }
  ])
  await work(world)
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '6.98' })
  const { rows } = await world.shop.ctx.db.execute(
    sql`select detail ->> 'amount' as amount, resolved_by from platform_events
      where platform_order_id = ${String(paid.id)} and outcome = 'partly_refunded' order by 1`
  )
  expect(rows).toEqual([
    { amount: '3.00', resolved_by: null },
    { amount: '3.98', resolved_by: 'boss1' }
  ])
})

test('refunds of orders that the platform cannot show do not keep a later one waiting', async () => {
  for (let gone = 0; gone < 50; gone += 1) await foreignRefund((ids += 1), 5_000_000 + gone)
  await work(world)
  const order = await world.place(buyer)
  const paid = payment(order)
  const id = (ids += 1)
  world.platformOrders.isAway = true
  await foreignRefund(id, paid.id)
  await tell(world, 'orders/paid', paid)
  await work(world)
  world.platformOrders.isAway = false
  says(paid, [{ id, amount: '5.00' }])
  for (let round = 0; round < 3; round += 1) {
    await askForAllRefunds(world.shop.ctx)
    await work(world)
    await world.advance(5 * MINUTE)
  }
  expect(await world.row(order.id)).toMatchObject({ state: 'delivering', refundedAmount: '5.00' })
})
