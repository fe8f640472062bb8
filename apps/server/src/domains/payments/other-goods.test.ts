import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { purchaseNote } from '../../integrations/shopify/index.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
afterAll(() => b?.world.close())

/** A payment for a mug that the platform sells beside our plans. */
const mug = (): Paid => ({
  ...b.paymentFor({ publicId: 'x' } as never, { lines: { '555': 2 } }),
  note_attributes: []
})
const cancel = ({ id, name }: Paid, financial_status = 'paid') =>
  b.tell('orders/cancelled', { id, name, cancelled_at: b.now().toISOString(), financial_status })
/** What operators, the buyer and the platform hear of a payment. */
const heardOf = async (paid: Paid) => ({
  open: (await b.openOf(paid)).map(({ outcome }) => outcome),
  jobs: (
    await b.db().execute(sql`select name from pgboss.job
      where name in ('send-mail', 'tag-platform-order') and data::text like ${`%${paid.id}%`}`)
  ).rows
})
const NOTHING = { open: [], jobs: [] }

test.for(['a cancellation', 'a refund', 'a won chargeback', 'an inquiry', 'a chargeback'])(
  'other goods of the platform concern no operator: %s',
  async what => {
    const paid = mug()
    const before = (await raisedNotices(b.db())).length
    expect(await b.tell('orders/paid', paid)).toBe('ignored')
    await expect(b.paymentRow(paid)).rejects.toThrow('no such payment')
    if (what === 'a cancellation') {
      expect(await cancel(paid)).toBe('ignored')
      expect(await cancel(paid, 'refunded')).toBe('ignored')
    }
    if (what === 'a refund') expect(await b.refund(paid, '20.00')).toBe('ignored')
    if (what === 'an inquiry') expect(await b.dispute(paid, 'needs_response', { type: 'inquiry' })).toBe('ignored')
    if (what.endsWith('chargeback')) expect(await b.chargeback.opened(paid)).toBe('ignored')
    if (what === 'a won chargeback') {
      await b.world.advance(DAY)
      expect(await b.dispute(paid, 'won', { finalized_on: b.now().toISOString() })).toBe('ignored')
    }
    expect(await heardOf(paid)).toEqual(NOTHING)
    expect(await raisedNotices(b.db())).toHaveLength(before)
  }
)

test('the example of a payment that the platform sends as a test concerns no operator', async () => {
  const paid = { ...mug(), test: true }
  expect(await b.tell('orders/paid', paid)).toBe('ignored')
  expect(await cancel(paid)).toBe('ignored')
  expect(await heardOf(paid)).toEqual(NOTHING)
})

test('other goods to which a plan was added later wait for an operator, and so does their cancellation', async () => {
  const paid = mug()
  expect(await b.tell('orders/paid', paid)).toBe('ignored')
  const { line_items } = b.paymentFor({ publicId: 'x' } as never)
  expect(await b.tell('orders/paid', { ...paid, line_items })).toBe('unknown_order')
  expect(await cancel(paid)).toBe('cancelled')
})

test.for(['48213', 'NL-7k2m9x4c8v3b6n1q'])(
  'an attribute order_id on other goods that names no order of ours mails, tags and asks no one: %s',
  async publicId => {
    const paid = b.paymentFor({ publicId } as never, { lines: { '555': 2 } })
    expect(await b.tell('orders/paid', { ...paid, email: 'mug@example.test' })).toBe('ignored')
    expect(await heardOf(paid)).toEqual(NOTHING)
  }
)

test("another app's attribute order_id hides neither our lines nor the note that names the order", async () => {
  const order = await b.world.place(b.buyer)
  const paid = b.paymentFor({ publicId: '48213' } as never)
  expect(await b.tell('orders/paid', b.paymentFor({ publicId: '48213' } as never))).toBe('unknown_order')
  expect(await b.tell('orders/paid', { ...paid, note: purchaseNote(order.publicId) })).toBe('settled')
})

const tipBy = (by: object) => ({ id: 9, title: 'Tip', variant_id: null, quantity: 1, price: '1.00', ...by })
const TIP = tipBy({ tip_payment_gateway: null })

test.for([
  { name: 'of an unpaid order', isDelivered: false, tip: TIP, alone: false },
  { name: 'of a delivered order', isDelivered: true, tip: TIP, alone: false },
  { name: 'alone', isDelivered: false, tip: tipBy({ tip: { payment_gateway: 'card' } }), alone: true }
])('a tip beside other goods is for no order, although the cart kept the attributes $name', async one => {
  const order = one.isDelivered ? (await b.delivered()).order : await b.world.place(b.buyer)
  const before = await b.world.row(order.id)
  const other = b.paymentFor(order, { lines: { '555': 2 } })
  const line_items = one.alone ? [one.tip] : [...other.line_items, one.tip]
  expect(await b.tell('orders/paid', { ...other, line_items })).toBe('ignored')
  // An order that is read has a line without a variant, and does not say that it is a tip.
  const read = {
    ...other,
    line_items: line_items.map(({ id, title, quantity, price, variant_id }) => ({
      id,
      title,
      quantity,
      price,
      variant_id
    }))
  }
  expect(await b.tell('orders/paid', read)).toBe('ignored')
  expect(await b.world.row(order.id)).toEqual(before)
  expect(await heardOf(other)).toEqual(NOTHING)
})

test('a tip beside what an order needs changes nothing', async () => {
  const order = await b.world.place(b.buyer)
  const paid = b.paymentFor(order)
  expect(await b.tell('orders/paid', { ...paid, line_items: [...paid.line_items, TIP] })).toBe('settled')
})
