import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eq } from 'drizzle-orm'
import { DAY, MINUTE } from '../../infra/clock.ts'
import type { OrderRow } from '../orders/index.ts'
import { orderEvents } from '../orders/tables.ts'
import { wrongBooks } from './books-check.fixture.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { compareFigures } from './figures.ts'
import { work } from './platform-orders.fixture.ts'
import { askForAllRefunds } from './read-foreign-refunds.ts'
import { reconcile, says } from './reconciling.fixture.ts'

let books: Books
let ids = 695_000
beforeAll(async () => {
  books = await startBooks()
}, 120_000)
afterAll(() => books?.world.close())
afterEach(async () => {
  expect(await compareFigures(books.db())).toEqual([])
  expect(await wrongBooks(books.db())).toEqual([])
  const { platformOrders } = books.world
  platformOrders.known.clear()
  platformOrders.isAway = false
  await books.world.endAll()
})

const row = ({ id }: OrderRow) => books.world.row(id)
const outcomesOf = async (paid: Paid) => (await books.openOf(paid)).map(({ outcome }) => outcome)
const tellForeign = ({ id: order_id }: Paid, id: number) =>
  books.tell('refunds/create', {
    id,
    order_id,
    transactions: [{ kind: 'refund', status: 'success', amount: '15.40', currency: 'GBP' }]
  })

/** What the reconciliation's job does, and what follows from it. */
async function look(): Promise<void> {
  await books.world.advance(6 * MINUTE)
  await askForAllRefunds(books.world.shop.ctx)
  await work(books.world)
}

test('a refund in the buyer’s currency that is told while a chargeback has all of the money holds the payment once the dispute is won', async () => {
  const { order, paid } = await books.delivered()
  const { platformOrders } = books.world
  await books.FATES.opened(paid)
  await books.world.confirm()
  await books.world.advance(DAY)
  platformOrders.isAway = true
  const id = (ids += 1)
  expect(await tellForeign(paid, id)).toBe('foreign_refund')
  expect(await tellForeign(paid, id)).toBe('duplicate')
  await work(books.world)
  // Nothing is left that anybody has to decide.
  expect(await outcomesOf(paid)).toEqual([])
  says(books, paid, [{ id, amount: '20.00' }])
  expect(await books.FATES.won(paid)).toBe('dispute_won')
  await look()
  expect(await books.reopen(order)).toMatchObject({ status: 409, data: { reason: 'refund_amount_unknown' } })
  expect(new Set(await outcomesOf(paid))).toEqual(new Set(['foreign_refund', 'dispute_won']))
  platformOrders.isAway = false
  await look()
  expect(await row(order)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await outcomesOf(paid)).toEqual([])
  expect(await books.reopen(order)).not.toMatchObject({ code: 2000 })
})

test('what the platform says of a payment that counts is read until it answers, once a dispute of it was won', async () => {
  const { order, paid } = await books.delivered()
  const { platformOrders } = books.world
  await books.FATES.opened(paid)
  await books.world.confirm()
  platformOrders.isAway = true
  // No webhook tells of this refund.
  says(books, paid, [{ id: (ids += 1), amount: '20.00' }])
  expect(await books.FATES.won(paid)).toBe('dispute_won')
  await work(books.world)
  await look()
  expect(await row(order)).toMatchObject({ state: 'expired' })
  platformOrders.isAway = false
  await look()
  expect(await row(order)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
})

test.for([
  { amount: '20.00', kind: 'refund', state: 'refunded' },
  { amount: '5.00', kind: 'partly_refunded', state: 'delivered' }
])(
  'a refund of $amount that an administrator ignored counts once the platform says how much it is, and the history says so',
  async ({ amount, kind, state }) => {
    const { order, paid } = await books.delivered()
    books.world.platformOrders.isAway = true
    const id = (ids += 1)
    expect(await tellForeign(paid, id)).toBe('foreign_refund')
    const [open] = await books.openOf(paid)
    expect(await books.act(open, 'ignore', { note: 'paid by hand' })).toMatchObject({ code: 2000 })
    books.world.platformOrders.isAway = false
    says(books, paid, [{ id, amount }])
    await reconcile(books)
    expect(await row(order)).toMatchObject({ state, refundedAmount: amount })
    const history = await books.db().select().from(orderEvents).where(eq(orderEvents.orderId, order.id))
    const reasons = history.flatMap(event => (event.kind === kind ? event.detail : []))
    expect(reasons).toMatchObject([{ amount, reason: 'ignored_refund' }])
  }
)

test('a part that was ignored of a held payment stands in its order’s history once it counts', async () => {
  const order = await books.world.place(books.buyer)
  const paid = books.paymentFor(order, { lines: { '11': 8 } })
  await books.tell('orders/paid', paid)
  books.world.platformOrders.isAway = true
  const id = (ids += 1)
  await tellForeign(paid, id)
  const open = (await books.openOf(paid)).find(({ outcome }) => outcome === 'foreign_refund')
  expect(await books.act(open, 'ignore', { note: 'paid by hand' })).toMatchObject({ code: 2000 })
  books.world.platformOrders.isAway = false
  says(books, paid, [{ id, amount: '5.00' }])
  await reconcile(books)
  expect(await books.paymentRow(paid)).toMatchObject({ accepted: false, refundedAmount: '5.00' })
  const history = await books.db().select().from(orderEvents).where(eq(orderEvents.orderId, order.id))
  expect(history.filter(event => event.detail['reason'] === 'ignored_refund')).toMatchObject([
    { kind: 'partly_refunded', detail: { amount: '5.00' } }
  ])
})
