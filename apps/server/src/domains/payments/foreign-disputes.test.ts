import type { InboxEntry } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paidEvent } from '../../testing/buying.ts'
import type { OrderRow } from '../orders/index.ts'
import { compareFigures } from './figures.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { platformOrder, work } from './platform-orders.fixture.ts'
import { askForAllRefunds } from './read-foreign-refunds.ts'
import { tell } from './told.fixture.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer
let ids = 780_000

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer')
  boss = await world.admin('boss1')
}, 120_000)
afterAll(async () => {
  expect(await compareFigures(world.shop.ctx.db)).toEqual([])
  await world?.close()
})

const payment = ({ publicId }: OrderRow) => paidEvent({ publicId, amount: '20.00', lines: { '11': 8, '901': 8 } })
/** A dispute about a payment, in the buyer's currency: tells of each status of it. */
const foreignDispute = ({ id: order_id }: ReturnType<typeof payment>) => {
  const id = (ids += 1)
  return (status: string) =>
    tell(world, status === 'needs_response' ? 'disputes/create' : 'disputes/update', {
      id,
      order_id,
      type: 'chargeback',
      status,
      amount: '15.40',
      currency: 'GBP'
    })
}
const deliver = ({ id }: OrderRow) => boss.post(`/api/orders/order_list/${id}/devery_order/`)
const HELD = { status: 409, data: { reason: 'refund_amount_unknown', params: { amount: '15.40 GBP' } } }

test('a dispute in the buyer’s currency ends nothing and counts for nothing; before its payment it holds that until it is won', async () => {
  for (const isBefore of [true, false]) {
    const order = await world.place(buyer)
    const paid = payment(order)
    const dispute = foreignDispute(paid)
    const pay = () => tell(world, 'orders/paid', paid)
    if (!isBefore) {
      expect(await pay()).toMatchObject({ outcome: 'settled' })
      await world.confirm()
    }
    expect(await dispute('needs_response')).toMatchObject({
      outcome: 'partly_refunded',
      unresolved: true,
      detail: { amount: '15.40 GBP', reason: 'chargeback' }
    })
    if (isBefore) {
      expect(await pay()).toMatchObject({ outcome: 'refund_amount_unknown' })
      expect(await deliver(order)).toMatchObject(HELD)
    }
    expect(await dispute('lost')).toMatchObject({ outcome: 'duplicate', unresolved: false })
    expect(await world.row(order.id)).toMatchObject({
      state: isBefore ? 'failed' : 'delivered',
      refundedAmount: '0.00'
    })
    world.platformOrders.known.set(String(paid.id), platformOrder(paid))
    expect(await dispute('won')).toMatchObject({ outcome: 'ignored' })
    await work(world)
    await world.confirm()
    expect(await world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
  }
})

test('a payment that such a dispute holds is delivered once an administrator has decided about the dispute', async () => {
  const order = await world.place(buyer)
  const paid = payment(order)
  const dispute = await foreignDispute(paid)('needs_response')
  await tell(world, 'orders/paid', paid)
  expect(await deliver(order)).toMatchObject(HELD)
  const path = `/api/payments/inbox/${dispute.id}/`
  const { entry } = (await boss.get<{ entry: InboxEntry }>(path)).data
  const ended = await boss.post(`${path}ignore/`, { version: entry.version, note: 'paid by other means' })
  expect(ended).toMatchObject({ code: 2000 })
  expect(await deliver(order)).toMatchObject({ code: 2000 })
})

test('a payment that such a dispute held is judged again once the platform answers, though it was away when the dispute was won', async () => {
  for (const renewal of [false, true]) {
    const order = await world.place(buyer)
    if (renewal) {
      await world.pay(order)
      await world.confirm()
    }
    const { expiredAt } = await world.row(order.id)
    const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: { '11': 8, '901': 8 }, renewal })
    const dispute = foreignDispute(paid)
    await dispute('needs_response')
    expect(await tell(world, 'orders/paid', paid)).toMatchObject({ outcome: 'refund_amount_unknown' })
    world.platformOrders.known.set(String(paid.id), platformOrder(paid))
    world.platformOrders.isAway = true
    await dispute('won')
    await work(world)
    await askForAllRefunds(world.shop.ctx)
    await work(world)
    world.platformOrders.isAway = false
    await askForAllRefunds(world.shop.ctx)
    await work(world)
    await world.confirm()
    const settled = await world.row(order.id)
    expect(settled.state).toBe('delivered')
    expect(settled.expiredAt?.getTime() ?? 0).toBeGreaterThan(expiredAt?.getTime() ?? 0)
    const { asked } = world.platformOrders
    await askForAllRefunds(world.shop.ctx)
    await work(world)
    expect(world.platformOrders.asked).toBe(asked)
  }
})
