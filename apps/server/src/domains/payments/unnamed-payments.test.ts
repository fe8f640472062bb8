import type { InboxEntry } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paidEvent } from '../../testing/buying.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { tell } from './event-row.fixture.ts'

let world: OrderShop
let buyer: Buyer
let admin: Buyer

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer1')
  admin = await world.admin('boss1')
}, 120_000)
afterAll(() => world?.close())

const PAYER = 'somebody@example.com'

/** A payment whose cart link was typed or shortened by hand. */
const unnamed = (lines: Record<string, number>, note_attributes: { name: string; value: string }[] = []) => ({
  ...paidEvent({ publicId: '', amount: '20.00', lines }),
  note_attributes,
  email: PAYER
})

const mailsTo = async (to: string) => {
  const { rows } = await world.shop.ctx.db.execute<{ template: string }>(sql`select data ->> 'template' as template
    from pgboss.job where name = 'send-mail' and data ->> 'to' = ${to}`)
  return rows.map(({ template }) => template)
}

const entryOf = async (id: number) => (await admin.get<{ entry: InboxEntry }>(`/api/payments/inbox/${id}/`)).data.entry
const act = ({ id, version }: InboxEntry, action: string, body: object) =>
  admin.post(`/api/payments/inbox/${id}/${action}/`, { version, ...body })

test('money for a plan that names no order needs somebody, tells its payer, and can be applied', async () => {
  const order = await world.place(buyer)
  const { id, outcome } = await tell(world, 'orders/paid', unnamed({ '11': 8, '901': 8 }))
  expect(outcome).toBe('unknown_order')
  expect(await mailsTo(PAYER)).toEqual(['payment-without-account'])
  const entry = await entryOf(id)
  expect(entry).toMatchObject({ unresolved: true, payment: 'held', params: { order_id: 'missing' } })
  expect(await act(entry, 'apply', { order: order.publicId })).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered' })
  expect(await entryOf(id)).toMatchObject({ unresolved: false, resolution: 'applied', payment: 'accepted' })
})

test.each([
  ['an empty order_id', { '11': 8 }, [{ name: 'order_id', value: '' }]],
  ['an access rule alone', { '901': 3, '5550': 1 }, []]
])('so does a payment with %s; it can be marked as refunded', async (_what, lines, attributes) => {
  const { id } = await tell(world, 'orders/paid', unnamed(lines, attributes))
  const entry = await entryOf(id)
  expect(entry).toMatchObject({ outcome: 'unknown_order', unresolved: true })
  expect(await act(entry, 'refunded', { note: 'by hand' })).toMatchObject({ code: 2000 })
  expect(await entryOf(id)).toMatchObject({ unresolved: false, payment: 'refunded' })
})

test('a sale of something else needs no decision and raises no notice', async () => {
  const before = (await mailsTo(PAYER)).length
  const event = unnamed({ '5550': 2 })
  // Our line was taken off the order.
  const [line] = event.line_items
  const removed = { ...line, id: 5, variant_id: 11, current_quantity: 0 }
  const { id, outcome } = await tell(world, 'orders/paid', { ...event, line_items: [line, removed] })
  expect(outcome).toBe('ignored')
  expect(await entryOf(id)).toMatchObject({ unresolved: false })
  expect(await mailsTo(PAYER)).toHaveLength(before)
})
