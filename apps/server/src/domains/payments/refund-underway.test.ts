import type { InboxEntry } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import { paidEvent } from '../../testing/buying.ts'
import type { OrderRow } from '../orders/index.ts'
import { compareFigures } from './figures.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { one, tell } from './told.fixture.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer
let other: Buyer

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer1')
  boss = await world.admin('boss1')
  other = await world.admin('boss2')
}, 120_000)
afterAll(() => world?.close())
beforeEach(() => world.endAll())

const ALL = { '11': 8, '901': 8 }
const entryOf = async (id: number) => (await boss.get<{ entry: InboxEntry }>(`/api/payments/inbox/${id}/`)).data.entry
const act = (by: Buyer, { id, version }: InboxEntry, action: string, body: object) =>
  by.post(`/api/payments/inbox/${id}/${action}/`, { version, ...body })
const refund = (by: Buyer, { id }: OrderRow, platform_order: string | null) =>
  by.post(`/api/orders/order_list/${id}/refund/`, platform_order ? { platform_order } : {})

/** An order that was paid, and the second payment for it, which is held. */
async function paidTwice() {
  const order = await world.place(buyer)
  await world.pay(order)
  await world.confirm()
  const told = await tell(world, 'orders/paid', paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL }))
  return { order, entry: await entryOf(told.id) }
}

test('a payment whose refund was just started cannot be applied, ignored or marked: the refusal says who and what', async () => {
  const { order, entry } = await paidTwice()
  const unpaid = await world.place(buyer)
  expect(await refund(other, order, entry.platform_order)).toMatchObject({ code: 2000 })
  const words = `boss2 has just started a refund of payment ${entry.platform_order}. Please wait until the platform reports it.`
  for (const [action, body] of [
    ['apply', { order: unpaid.publicId }],
    ['ignore', { note: 'a tip' }],
    ['refunded', { note: 'by hand' }]
  ] as const)
    expect(await act(boss, entry, action, body)).toMatchObject({ status: 409, msg: words })
  expect(await world.row(unpaid.id)).toMatchObject({ state: 'placed' })
  // A refund of which the platform never reports keeps nobody from deciding.
  await world.advance(11 * MINUTE)
  expect(await act(boss, entry, 'apply', { order: unpaid.publicId })).toMatchObject({ code: 2000 })
})

test('a failed order is not delivered while its money is on its way back, nor refunded while its delivery is asked for', async () => {
  const [order, asked] = [await world.place(buyer), await world.place(buyer)]
  await world.pay(order, { lines: { '11': 8 } })
  await world.pay(asked, { lines: { '11': 8 } })
  expect(await refund(other, order, null)).toMatchObject({ code: 2000 })
  const deliver = ({ id }: OrderRow) => boss.post(`/api/orders/order_list/${id}/devery_order/`)
  const { platformOrderNumber } = await world.row(order.id)
  expect(await deliver(order)).toMatchObject({
    status: 409,
    data: { reason: 'refund_running', params: { by: 'boss2', platform_order: platformOrderNumber } }
  })
  expect(await deliver(asked)).toMatchObject({ code: 2000 })
  expect(await refund(other, asked, null)).toMatchObject({ status: 409, data: { reason: 'order_busy' } })
})

test('of a refund and an application at once one wins, whichever is first', async () => {
  for (let round = 0; round < 6; round++) {
    const { order, entry } = await paidTwice()
    const unpaid = await world.place(buyer)
    const made = world.refundsMade.length
    const both = [
      () => refund(other, order, entry.platform_order),
      () => act(boss, entry, 'apply', { order: unpaid.publicId })
    ]
    const replies = await Promise.all((round % 2 ? both : both.toReversed()).map(ask => ask()))
    expect(replies.filter(({ code }) => code === 2000)).toHaveLength(1)
    const applied = (await world.row(unpaid.id)).state === 'delivering'
    expect(world.refundsMade.length - made).toBe(applied ? 0 : 1)
  }
  expect(await compareFigures(world.shop.ctx.db)).toEqual([])
})

test('a held payment whose refund was started does not settle when its order is told again', async () => {
  const order = await world.place(buyer)
  const short = paidEvent({ publicId: order.publicId, amount: '20.00', lines: { '11': 8 } })
  await tell(world, 'orders/paid', short)
  await refund(other, order, null)
  const edited = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, id: short.id })
  expect(await tell(world, 'orders/paid', edited)).toMatchObject({ outcome: 'duplicate' })
  expect(await one(world.shop.ctx, sql`select state from orders where id = ${order.id}`)).toEqual({ state: 'failed' })
})
