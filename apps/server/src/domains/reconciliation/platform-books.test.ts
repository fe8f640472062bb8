import { sql } from '../../infra/db/drizzle.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../../../scripts/testing/tier.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'
import { startBooks, type Books } from '../payments/books.fixture.ts'
import {
  backOf,
  money,
  startPlatformBooks,
  type PlatformBooks,
  type PlatformPayment
} from './platform-books.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
afterAll(() => b?.world.close())

type Now = { there: PlatformBooks; order: OrderRow; payment: PlatformPayment; n: number }

const decide =
  (action: 'apply' | 'ignore') =>
  async ({ order, payment, n }: Now) => {
    const open = await b.openOf(payment.paid)
    const entry = open[n % Math.max(open.length, 1)]
    if (entry) await b.act(entry, action, action === 'apply' ? { order: order.publicId } : { note: 'so' })
  }

/** What can happen to one of the order's payments on the platform. `n`: 1 to 9. */
const ON_PLATFORM = {
  'pays the renewal': ({ there }: Now) => there.payments.length < 4 && there.pay({ renewal: true }),
  'pays again': ({ there, n }: Now) => there.payments.length < 4 && there.pay({ isShort: n % 2 === 0 }),
  'is edited': ({ there, payment }: Now) => there.edit(payment, 0),
  'refunds a part': ({ there, payment, n }: Now) => there.refund(payment, 100 * n, 'made'),
  'refunds the rest': ({ there, payment }: Now) => there.refund(payment, Infinity, 'made'),
  'begins a refund': ({ there, payment, n }: Now) => there.refund(payment, 100 * n, 'pending'),
  'begins a refund in parts': ({ there, payment, n }: Now) => there.refund(payment, 100 * n, 'pending', 100),
  'makes the pending refund': ({ there, payment }: Now) => there.change(payment, 'pending', 'made'),
  'fails the pending refund': ({ there, payment }: Now) => there.change(payment, 'pending', 'failed'),
  'fails a refund': ({ there, payment }: Now) => there.change(payment, 'made', 'failed'),
  'is disputed': ({ there, payment, n }: Now) => there.dispute(payment, 'needs_response', n % 2 === 0),
  'wins the dispute': ({ there, payment, n }: Now) => there.dispute(payment, 'won', n % 2 === 0)
}
const IN_SHOP = {
  'asks for a part': ({ there, payment, n }: Now) =>
    there.refundInShop(payment, money(100 * n), n % 2 === 0 ? 'pending' : 'made'),
  'asks for the rest': ({ there, payment, n }: Now) =>
    there.refundInShop(payment, null, n % 2 === 0 ? 'pending' : 'made'),
  'asks and is cut off': ({ there, payment, n }: Now) => there.refundInShop(payment, money(100 * n), 'cut off'),
  applies: decide('apply'),
  ignores: decide('ignore'),
  reopens: ({ order }: Now) => b.reopen(order),
  confirms: () => b.world.confirm()
}
const BETWEEN = {
  'a report comes': ({ there, n }: Now) => there.send(n),
  'a report comes too early': ({ there, n }: Now) => there.send(n, { again: true }),
  'a report is lost': ({ there, n }: Now) => there.lose(n),
  'the shop reads': ({ there }: Now) => there.read(),
  'a minute': () => b.world.advance(MINUTE),
  '11 minutes': () => b.world.advance(11 * MINUTE),
  'a week': async () => {
    await b.world.advance(8 * DAY)
    await expireOrders(b.world.shop.ctx)
    await endGraces(b.world.shop.ctx)
  }
}
const STEPS = { ...ON_PLATFORM, ...IN_SHOP, ...BETWEEN }
type Name = keyof typeof STEPS

const nameOf = (steps: object) => fc.constantFrom(...(Object.keys(steps) as Name[]))
const step = fc.record({
  name: fc.oneof(
    { weight: 4, arbitrary: nameOf(ON_PLATFORM) },
    { weight: 2, arbitrary: nameOf(IN_SHOP) },
    { weight: 4, arbitrary: nameOf(BETWEEN) }
  ),
  nth: fc.nat(3),
  n: fc.integer({ min: 1, max: 9 })
})

/** What holds at each moment, however much the shop has yet to hear. */
async function expectSound({ id }: OrderRow, happened: string): Promise<void> {
  expect(await wrongBooks(b.db()), happened).toEqual([])
  const { rows } = await b.db().execute(sql`
    select o.state from orders o where o.id = ${id} and o.state in ('delivering', 'partly_delivered', 'delivered')
      and not exists (select from payments p
        where p.order_id = o.id and p.kind = 'purchase' and p.accepted and p.refunded_at is null)`)
  expect(rows, happened).toEqual([])
}

/** The platform ends what is open, and the shop reads it. No report comes any more. */
async function end(there: PlatformBooks): Promise<void> {
  for (const payment of there.payments) {
    while (payment.refunds.some(({ status }) => status === 'pending')) there.change(payment, 'pending', 'made')
    there.dispute(payment, 'won', true)
  }
  // The list of changed orders has them for an hour.
  there.touch()
  for (let times = 0; times < 4; times++) {
    await b.world.advance(12 * MINUTE)
    await there.read()
  }
}

test('whatever reports are late, repeated or lost, the shop has the books of the platform in the end', async () => {
  const history = fc.array(step, { minLength: 6, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(history, fc.boolean(), async (steps, isShort) => {
      const order = await b.world.place(b.buyer)
      const there = startPlatformBooks(b, order)
      there.pay({ isShort })
      await there.send(0)
      await b.world.confirm()
      let happened = isShort ? 'a line is missing' : ''
      for (const { name, nth, n } of steps) {
        await b.world.advance(1500)
        const at = nth % there.payments.length
        const payment = there.payments[at]
        if (payment) await STEPS[name]({ there, order, payment, n })
        happened += `; ${at} ${name} ${n}`
        await expectSound(order, happened)
      }
      await end(there)
      await expectSound(order, happened)
      for (const payment of there.payments) {
        const left = payment.received - backOf(payment)
        const row = await b.paymentRow(payment.paid)
        const why = `${happened} ${JSON.stringify({ payment, row })}`
        expect(Math.round((Number(row.charged) - Number(row.refundedAmount)) * 100), why).toBe(left)
        expect(row.refundedAt !== null, why).toBe(left === 0)
        if (left === 0) continue
        // The shop refunds exactly what is left, once no request waits for its answer.
        await b.world.advance(DAY)
        const asked = await there.refundInShop(payment, null, 'made')
        expect(asked, why).toMatchObject({ code: 2000, data: { amount: money(left) } })
        await there.send(there.unsent.length - 1)
      }
      expect((await b.world.row(order.id)).state, happened).not.toMatch(/deliver/)
      expect(await compareFigures(b.db()), happened).toEqual([])
      expect(await wrongBooks(b.db()), happened).toEqual([])
      b.world.platformOrders.known.clear()
      await b.world.endAll()
    }),
    runs(4, 80, 5)
  )
}, 600_000)
