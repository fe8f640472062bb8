import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { expireOrders } from '../delivery/index.ts'
import { remindExpiries, timeOutOrders } from '../orders/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'

let world: OrderShop
let buyer: Buyer

beforeAll(async () => {
  world = await startOrderShop()
  buyer = await world.customer('buyer')
}, 60_000)
afterAll(() => world?.close())

const cancel = ({ id }: { id: number }) => buyer.post(`/api/orders/order_list/${id}/cancel/`)
const later = (from: Date | null, milliseconds: number) => new Date((from?.getTime() ?? 0) + milliseconds)

test('a cancelled order that is paid later is served', async () => {
  const order = await world.place(buyer)
  const stock = await world.stock()
  expect((await cancel(order)).code).toBe(2000)
  expect(await world.stock()).toBe(stock + 8)
  expect(await world.pay(order)).toMatchObject({ outcome: 'settled' })
  await world.confirm()
  expect((await world.row(order.id)).state).toBe('delivered')
  expect(await world.stock()).toBe(stock)
})

test('of a payment and a cancellation at once the payment wins', async () => {
  for (let n = 0; n < 6; n++) {
    const order = await world.place(buyer)
    const first = n % 2 === 0 ? null : cancel(order)
    const [paid, cancelled] = await Promise.all([world.pay(order), first ?? cancel(order)])
    expect(paid).toMatchObject({ outcome: 'settled' })
    expect([200, 409]).toContain(cancelled.status)
    await world.confirm()
    expect((await world.row(order.id)).state).toBe('delivered')
    await world.endAll()
  }
})

test('mails of an order: received, reminded twice, expired; each once', async () => {
  const placed = await world.place(buyer)
  await world.pay(placed)
  await world.confirm()
  const order = await world.row(placed.id)
  const remind = () => Promise.all([remindExpiries(world.shop.ctx), remindExpiries(world.shop.ctx)])
  const templates = async () => (await world.mailsOf(order.id)).map(({ template }) => template)
  await remind()
  expect(await templates()).toEqual(['order-received'])
  await world.advance(27 * DAY - MINUTE)
  await remind()
  expect(await templates()).toEqual(['order-received'])
  await world.advance(2 * MINUTE)
  await remind()
  await remind()
  expect(await templates()).toEqual(['order-received', 'expiry-reminder'])
  await world.advance(2 * DAY)
  await remind()
  await remind()
  expect(await templates()).toEqual(['order-received', 'expiry-reminder', 'expiry-reminder'])
  await world.advance(later(order.expiredAt, 1000).getTime() - world.shop.ctx.now().getTime())
  await expireOrders(world.shop.ctx)
  await remind()
  expect(await templates()).toEqual(['order-received', 'expiry-reminder', 'expiry-reminder', 'order-expired'])
  // After a renewal in its grace, the reminder is about the new date.
  await world.pay(order, { renewal: true })
  await world.confirm()
  await world.advance(29 * DAY + 12 * HOUR)
  await remind()
  const keys = (await world.mailsOf(order.id)).map(({ key }) => key)
  expect(keys.at(-1)).toBe(`reminder:${order.id}:last:${later(order.expiredAt, 30 * DAY).toISOString()}`)
  expect(new Set(keys).size).toBe(keys.length)
})

test('an unpaid order that was cancelled or timed out is mailed about as such', async () => {
  const order = await world.place(buyer)
  await cancel(order)
  await cancel(order)
  expect((await world.mailsOf(order.id)).map(({ template }) => template)).toEqual(['order-received', 'order-cancelled'])
  const silent = await world.place(buyer)
  await world.advance(31 * MINUTE)
  await timeOutOrders(world.shop.ctx)
  expect((await world.mailsOf(silent.id)).map(({ template }) => template)).toEqual(['order-received'])
})
