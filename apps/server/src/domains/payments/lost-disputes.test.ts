import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { sql } from '../../infra/db/drizzle.ts'
import { DAY, HOUR } from '../../infra/clock.ts'
import type { OrderRow } from '../orders/index.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
afterAll(() => b?.world.close())
afterEach(async () => {
  expect(await compareFigures(b.db())).toEqual([])
  expect(await wrongBooks(b.db())).toEqual([])
})

const row = ({ id }: OrderRow) => b.world.row(id)
const outcomesOf = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome }) => outcome)
/** The platform's time, `later` milliseconds from now. */
const at = (later = 0) => new Date(b.now().getTime() + later).toISOString()
type Word = [status: string, at: string | null]
const tell = (paid: Paid, [status, finalized_on]: Word, more = {}) => b.dispute(paid, status, { finalized_on, ...more })

test('a dispute that is lost after it was won takes the money back again, and may be won again', async () => {
  const start = await b.books()
  const { order, paid } = await b.delivered()
  const before = await b.books()
  await b.chargeback.opened(paid)
  await b.world.confirm()
  expect(await tell(paid, ['won', at()])).toBe('dispute_won')
  expect(await b.reopen(order)).toMatchObject({ code: 2000 })
  await b.world.confirm()
  await b.world.advance(DAY)
  const lost: Word = ['lost', at()]
  expect(await tell(paid, lost)).toBe('refunded')
  expect(await row(order)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await b.books()).toEqual(start)
  expect(await outcomesOf(paid)).toEqual([])
  expect(await tell(paid, lost)).toBe('ignored')
  await b.world.advance(DAY)
  // A late report changes nothing.
  expect(await tell(paid, ['won', at(-3 * DAY)])).toBe('ignored')
  expect(await tell(paid, ['won', at()])).toBe('dispute_won')
  expect(await tell(paid, lost)).toBe('ignored')
  expect(await b.books()).toEqual(before)
  await b.world.confirm()
  expect(new Set(await outcomesOf(paid))).toEqual(new Set(['dispute_won']))
  expect(await b.reopen(order)).toMatchObject({ code: 2000 })
  expect(await outcomesOf(paid)).toEqual([])
})

test.for([
  { ends: 'refunded', told: 'opened, won, lost', words: [['needs_response'], ['won', 1], ['lost', 2]] },
  { ends: 'refunded', told: 'lost, won, opened', words: [['lost', 2], ['won', 1], ['needs_response']] },
  { ends: 'refunded', told: 'won, opened, lost', words: [['won', 1], ['needs_response'], ['lost', 2]] },
  { ends: 'refunded', told: 'won, lost, opened', words: [['won', 1], ['accepted', 2], ['needs_response']] },
  { ends: 'expired', told: 'opened, lost, won', words: [['needs_response'], ['lost', 1], ['won', 2]] },
  { ends: 'expired', told: 'opened, won, lost before it', words: [['needs_response'], ['won', 2], ['lost', 1]] },
  { ends: 'expired', told: 'opened, won, lost without a time', words: [['needs_response'], ['won', 1], ['lost']] },
  { ends: 'expired', told: 'opened, won, lost at the same time', words: [['needs_response'], ['won', 1], ['lost', 1]] }
] as const)('of a dispute that is told as $told the later word counts: $ends', async ({ ends, words }) => {
  const { order, paid } = await b.delivered()
  const hours = b.now().getTime() - DAY
  for (const [status, hour] of words) {
    const time = hour === undefined ? null : new Date(hours + hour * HOUR).toISOString()
    await tell(paid, [status, time])
    await b.world.confirm()
  }
  expect(await row(order)).toMatchObject({ state: ends })
})

test.for(['prevented', 'of_tomorrow'])(
  'a dispute that is %s takes no money, ends no other dispute, and waits for somebody',
  async status => {
    const { order, paid } = await b.delivered()
    expect(await b.dispute(paid, status)).toBe('inquiry')
    expect(await row(order)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
    const [open] = await b.openOf(paid)
    // The payment processor may have refunded it.
    expect(await b.act(open, 'refunded', { note: 'by the processor' })).toMatchObject({ code: 2000 })
    expect(await row(order)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
    const other = await b.delivered()
    await b.chargeback.opened(other.paid)
    expect(await b.dispute(other.paid, status)).toBe('inquiry')
    expect(await row(other.order)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
    expect(await outcomesOf(other.paid)).toEqual([])
  }
)

test('if the event of the win is deleted, the loss counts if it is later than the time when the win was recorded', async () => {
  const { order, paid } = await b.delivered()
  await b.chargeback.opened(paid)
  await b.world.confirm()
  await tell(paid, ['won', at(-HOUR)])
  await b.db().execute(sql`update platform_events set payload = '{}' where platform_order_id = ${String(paid.id)}`)
  expect(await tell(paid, ['lost', at(-HOUR / 2)])).toBe('ignored')
  expect(await tell(paid, ['lost', at(HOUR)])).toBe('refunded')
  expect(await row(order)).toMatchObject({ state: 'refunded' })
})

test('a prevented dispute that is marked as refunded before its payment comes keeps that payment from buying', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  expect(await b.dispute(paid, 'prevented')).toBe('inquiry')
  const [open] = await b.openOf(paid)
  expect(await b.act(open, 'refunded', { note: 'by the processor' })).toMatchObject({ code: 2000 })
  await b.tell('orders/paid', paid)
  expect(await row(placed)).toMatchObject({ state: 'placed' })
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: false, refundedAt: expect.any(Date) })
})

test('a prevented dispute stays closed once its chargeback is won, and that of another dispute does not', async () => {
  const { paid } = await b.delivered()
  await b.dispute(paid, 'prevented', { id: 6001 })
  await b.dispute(paid, 'needs_response')
  await b.dispute(paid, 'prevented')
  expect(await outcomesOf(paid)).toEqual([])
  await b.world.advance(HOUR)
  await b.dispute(paid, 'won')
  expect(new Set(await outcomesOf(paid))).toEqual(new Set(['dispute_won', 'inquiry']))
  const left = (await b.openOf(paid)).filter(({ outcome }) => outcome === 'inquiry')
  expect(left).toHaveLength(1)
  await b.world.advance(HOUR)
  await b.dispute(paid, 'prevented')
  expect(await outcomesOf(paid)).toHaveLength(3)
})
