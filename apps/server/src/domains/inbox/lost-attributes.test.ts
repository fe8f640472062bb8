import type { InboxDetail } from '@netlet/contract'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { readOrderReference, PaidOrder, purchaseNote, renewalNote } from '../../integrations/shopify/index.ts'
import { DAY } from '../../infra/clock.ts'
import type { OrderRow } from '../orders/index.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'

let b: Books

beforeAll(async () => {
  b = await startBooks()
}, 60_000)
afterAll(() => b?.world.close())
afterEach(() => b.world.endAll())

/** The platform's report of a wallet payment whose checkout lost the cart's attributes. */
const lost = (paid: Paid, more: { note?: string | null; email?: string } = {}) => ({
  ...paid,
  note_attributes: [],
  email: b.buyer.user.email.toUpperCase(),
  processed_at: b.now().toISOString(),
  ...more
})
async function proposedFor(paid: Paid): Promise<string | null> {
  const [open] = await b.openOf(paid)
  return (await b.admin.get<InboxDetail>(`/api/payments/inbox/${open?.id}/`)).data.proposed
}
/** Reports a payment for an order's lines that does not name the order. */
async function tellUnnamed(order: OrderRow, more: { email?: string } = {}): Promise<Paid> {
  const paid = b.paymentFor(order)
  expect(await b.tell('orders/paid', lost(paid, more))).toBe('unknown_order')
  return paid
}

test('a payment that lost its attributes is for the order that its note names', async () => {
  const order = await b.world.place(b.buyer)
  const paid = b.paymentFor(order)
  expect(await b.tell('orders/paid', lost(paid, { note: purchaseNote(order.publicId) }))).toBe('settled')
  await b.world.confirm()
  const { expiredAt } = await b.world.row(order.id)
  const renewal = b.paymentFor(order)
  expect(await b.tell('orders/paid', lost(renewal, { note: renewalNote(order.publicId, 30) }))).toBe('settled')
  expect((await b.world.row(order.id)).expiredAt?.getTime()).toBe((expiredAt?.getTime() ?? 0) + 30 * DAY)
})

test('without a note the one order of the same customer with these lines is proposed, and an operator applies it', async () => {
  const order = await b.world.place(b.buyer)
  const paid = await tellUnnamed(order)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'placed' })
  expect(await proposedFor(paid)).toBe(order.publicId)
  const [open] = await b.openOf(paid)
  expect(await b.act(open, 'apply', { order: order.publicId })).toMatchObject({ code: 2000 })
  await b.world.confirm()
  // Once the order is delivered, the same lines would renew it.
  expect(await proposedFor(await tellUnnamed(order))).toBe(order.publicId)
})

test('other goods in the same cart change nothing: the order is settled, and is proposed if the cart names none', async () => {
  const withMug = { '11': 8, '901': 8, '555': 2 }
  const order = await b.world.place(b.buyer)
  expect(await b.tell('orders/paid', b.paymentFor(order, { lines: withMug }))).toBe('settled')
  const other = await b.world.place(b.buyer)
  const paid = b.paymentFor(other, { lines: withMug })
  expect(await b.tell('orders/paid', lost(paid))).toBe('unknown_order')
  expect(await proposedFor(paid)).toBe(other.publicId)
})

test.for([false, true])(
  'a payment for other goods alone is for no order, even if the cart kept its attributes (renewal: %s)',
  async renewal => {
    const placed = await b.world.place(b.buyer)
    const { order } = await b.delivered()
    for (const { id } of [placed, order]) {
      const before = await b.world.row(id)
      const mug = b.paymentFor(before, { lines: { '555': 2 }, renewal })
      expect(await b.tell('orders/paid', mug)).toBe('ignored')
      // It is reported again, for example after an edit.
      expect(await b.tell('orders/paid', { ...mug, updated_at: b.now().toISOString() })).toBe('ignored')
      expect(await b.world.row(id)).toEqual(before)
      await expect(b.paymentRow(mug)).rejects.toThrow('no such payment')
      expect(await b.openOf(mug)).toEqual([])
      expect((await b.world.mailsOf(id)).filter(({ template }) => template.startsWith('payment-'))).toEqual([])
    }
  }
)

test('a line that a person typed on the platform may be for our order, so an operator decides', async () => {
  const order = await b.world.place(b.buyer)
  const line_items = [{ id: 1, title: '8 proxies', variant_id: null, quantity: 1, price: '20.00' }]
  expect(await b.tell('orders/paid', { ...b.paymentFor(order), line_items })).toBe('lines_missing')
})

test('nothing is proposed of two such orders, of another customer, of other lines, and of an order of the day before', async () => {
  const order = await b.world.place(b.buyer)
  expect(await proposedFor(await tellUnnamed(order, { email: 'stranger@example.test' }))).toBe(null)
  const more = b.paymentFor(order, { lines: { '11': 8, '901': 8, '902': 8 } })
  expect(await b.tell('orders/paid', lost(more))).toBe('unknown_order')
  expect(await proposedFor(more)).toBe(null)
  await b.world.place(b.buyer)
  expect(await proposedFor(await tellUnnamed(order))).toBe(null)
  await b.world.advance(DAY + 1)
  expect(await proposedFor(await tellUnnamed(order))).toBe(null)
})

test.each([
  ['Order NL-1a2b', { order: 'NL-1a2b', isRenewal: false, isByNote: true }],
  ['Renewal of order NL-1a2b for 1 day', { order: 'NL-1a2b', isRenewal: true, isByNote: true }],
  ['Renewal of order NL-1a2b for 30 days', { order: 'NL-1a2b', isRenewal: true, isByNote: true }],
  ['Settled order NL-1a2b', null],
  ['Order NL-1a2b had been paid before', null],
  ['Please deliver Order NL-1a2b', null],
  ['', null],
  [null, null]
])('the note %j names %j', (note, named) => {
  const paid = PaidOrder.parse({ ...b.paymentFor({ publicId: 'x' } as OrderRow), note_attributes: [], note })
  expect(readOrderReference(paid)).toEqual(named)
  const other = { ...paid, note_attributes: [{ name: 'order_id', value: 'NL-other' }] }
  expect(readOrderReference(other)).toEqual({ order: 'NL-other', isRenewal: false, isByNote: false })
})

test('a note names no order if that order does not exist', async () => {
  const sale = { ...b.paymentFor({ publicId: 'x' } as OrderRow, { lines: { '999': 1 } }), note_attributes: [] }
  expect(await b.tell('orders/paid', { ...sale, note: 'Order 2' })).toBe('ignored')
})

test('a renewal that its note named stays one when the note has changed', async () => {
  const { order } = await b.delivered()
  const renewal = b.paymentFor(order, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', lost(renewal, { note: renewalNote(order.publicId, 30) }))).toBe('lines_missing')
  // The shop noted on the platform's order why it settled nothing. Then the order was edited.
  const edited = b.paymentFor(order, { id: renewal.id })
  expect(await b.tell('orders/paid', lost(edited, { note: 'Payment does not cover the order' }))).toBe('settled')
  expect((await b.world.row(order.id)).expiredAt?.getTime()).toBe((order.expiredAt?.getTime() ?? 0) + 30 * DAY)
})
