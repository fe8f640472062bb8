/** A customer pays the same checkout link twice, and something happens to one of the two payments. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sql } from '../../infra/db/drizzle.ts'
import { deliveryPorts } from '../../workers.ts'
import { runTask } from '../delivery/tasks.ts'
import type { OrderRow } from '../orders/index.ts'
import { askRefund } from './ask-refund.fixture.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'
import { audit } from '../inventory/index.ts'
import { paymentStateOf } from './states.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 60_000)
afterAll(() => b?.world.close())

/** `counts`: the payment that settled the order. `held`: the other one. */
type Twice = { order: OrderRow; counts: Paid; held: Paid }
type Happening = (twice: Twice) => Promise<unknown>

const cancel = ({ id, name }: Paid, financial_status = 'paid') =>
  b.tell('orders/cancelled', { id, name, cancelled_at: b.now().toISOString(), financial_status })

/** Refunds in the console what is left of a payment, and reports it like the platform. */
async function refundInConsole(order: OrderRow, form: { platform_order?: string; amount?: string } = {}) {
  expect(await askRefund(b.admin, order, form)).toMatchObject({ code: 2000 })
  const made = b.world.refundsMade.at(-1)
  return b.tell('refunds/create', {
    id: made?.id,
    order_id: Number(made?.platformOrderId),
    transactions: [{ kind: 'refund', status: 'success', amount: made?.amount, currency: 'USD' }]
  })
}

/** The outcomes that an unsettled payment waits with. `HELD_FOR` stands for them. */
const WAITS = new Set<string | null>(['paid_twice', 'lines_missing', 'too_late'])
const HELD_FOR = 'waits'

/** What can be seen of the two payments, with their open events, newest first, and of their order. */
async function seen({ order, counts, held }: Twice) {
  const { state, payAmount, refundedAmount } = await b.world.row(order.id)
  const of = async (paid: Paid) => {
    const row = await b.paymentRow(paid)
    const open = (await b.openOf(paid)).map(({ outcome }) => outcome)
    return [paymentStateOf(row), row.refundedAmount, ...open.map(one => (WAITS.has(one) ? HELD_FOR : one))]
  }
  return { order: [state, payAmount, refundedAmount], counts: await of(counts), held: await of(held) }
}

async function expectSound(): Promise<void> {
  expect(await compareFigures(b.db())).toEqual([])
  expect(await wrongBooks(b.db())).toEqual([])
  expect(await audit(b.db())).toEqual({ differences: 0, doubleLeased: 0 })
}

const RUNS = ['delivered', '20.00', '0.00']
const ENDED = ['refunded', '20.00', '20.00']
const COUNTS = ['accepted', '0.00']
const BACK = ['refunded', '20.00']
const HELD = ['held', '0.00', HELD_FOR]

/** `early`: what differs if it happens before the other payment is reported. Null: it cannot. */
const CASES: { name: string; happens: Happening; after: object; early?: object | null }[] = [
  { name: 'nothing', happens: () => Promise.resolve(), after: { order: RUNS, counts: COUNTS, held: HELD } },
  {
    name: 'the other payment is reported once more',
    happens: ({ held }) => b.tell('orders/paid', held),
    after: { order: RUNS, counts: COUNTS, held: HELD }
  },
  {
    name: 'a part of the one that counts goes back',
    happens: ({ counts }) => b.refund(counts, '5.00'),
    after: { order: ['delivered', '20.00', '5.00'], counts: ['accepted', '5.00', 'partly_refunded'], held: HELD }
  },
  {
    name: 'all of the one that counts goes back',
    happens: ({ counts }) => b.refund(counts, '20.00'),
    after: { order: ENDED, counts: BACK, held: HELD }
  },
  {
    name: 'a part of the other goes back',
    happens: ({ held }) => b.refund(held, '5.00'),
    after: { order: RUNS, counts: COUNTS, held: ['held', '5.00', HELD_FOR] }
  },
  {
    name: 'all of the other goes back',
    happens: ({ held }) => b.refund(held, '20.00'),
    after: { order: RUNS, counts: COUNTS, held: BACK }
  },
  {
    name: 'the one that counts is cancelled',
    happens: ({ counts }) => cancel(counts),
    after: { order: RUNS, counts: [...COUNTS, 'cancelled_delivered'], held: HELD }
  },
  {
    name: 'the other is cancelled',
    happens: ({ held }) => cancel(held),
    after: { order: RUNS, counts: COUNTS, held: ['held', '0.00', 'cancelled', HELD_FOR] },
    early: { held: HELD }
  },
  {
    name: 'the one that counts is cancelled and refunded',
    happens: ({ counts }) => cancel(counts, 'refunded'),
    after: { order: ENDED, counts: BACK, held: HELD }
  },
  {
    name: 'the other is cancelled and refunded',
    happens: ({ held }) => cancel(held, 'refunded'),
    after: { order: RUNS, counts: COUNTS, held: BACK }
  },
  {
    name: 'the console refunds the order',
    happens: ({ order }) => refundInConsole(order),
    after: { order: ENDED, counts: BACK, held: HELD }
  },
  {
    name: 'the console refunds a part of the order',
    happens: ({ order }) => refundInConsole(order, { amount: '5.00' }),
    // The administrator who asked for it has decided.
    after: { order: ['delivered', '20.00', '5.00'], counts: ['accepted', '5.00'], held: HELD }
  },
  {
    name: 'the console refunds the other',
    happens: ({ order, held }) => refundInConsole(order, { platform_order: held.name }),
    after: { order: RUNS, counts: COUNTS, held: BACK },
    early: null
  },
  {
    name: 'an administrator marks the other as refunded',
    happens: async ({ held }) => b.act((await b.openOf(held))[0], 'refunded', { note: 'by bank transfer' }),
    after: { order: RUNS, counts: COUNTS, held: BACK },
    early: null
  },
  {
    name: 'the buyer disputes the one that counts',
    happens: ({ counts }) => b.chargeback.opened(counts),
    after: { order: ENDED, counts: BACK, held: HELD }
  },
  {
    name: 'the buyer disputes the one that counts and loses',
    happens: async ({ counts }) => [await b.chargeback.opened(counts), await b.chargeback.won(counts)],
    after: { order: ['expired', '20.00', '0.00'], counts: [...COUNTS, 'dispute_won'], held: HELD }
  },
  {
    name: 'the buyer disputes the other',
    happens: ({ held }) => b.chargeback.opened(held),
    after: { order: RUNS, counts: COUNTS, held: BACK }
  },
  {
    name: 'the buyer disputes the other and loses',
    happens: async ({ held }) => [await b.chargeback.opened(held), await b.chargeback.won(held)],
    after: { order: RUNS, counts: COUNTS, held: ['held', '0.00', 'dispute_won', HELD_FOR] },
    early: { held: HELD }
  },
  {
    name: 'an administrator ignores the other',
    happens: async ({ held }) => b.act((await b.openOf(held))[0], 'ignore', { note: 'a tip' }),
    after: { order: RUNS, counts: COUNTS, held: ['ignored', '0.00'] },
    early: null
  }
]

async function paidTwice(): Promise<Twice> {
  const { order, paid: counts } = await b.delivered()
  return { order, counts, held: b.paymentFor(order) }
}
/** How an order comes to have two payments. */
const WAYS = {
  'paid twice': async (): Promise<Twice> => {
    const twice = await paidTwice()
    expect(await b.tell('orders/paid', twice.held)).toBe('paid_twice')
    return twice
  },
  'paid twice at once': async (): Promise<Twice> => {
    const order = await b.world.place(b.buyer)
    const both = [b.paymentFor(order), b.paymentFor(order)] as const
    const outcomes = await Promise.all(both.map(paid => b.tell('orders/paid', paid)))
    expect(new Set(outcomes)).toEqual(new Set(['paid_twice', 'settled']))
    await b.world.confirm()
    const [counts, held] = outcomes[0] === 'settled' ? both : [both[1], both[0]]
    return { order, counts, held }
  },
  'paid with a line missing, then in full': async (): Promise<Twice> => {
    const order = await b.world.place(b.buyer)
    const held = b.paymentFor(order, { lines: { '11': 8 } })
    expect(await b.tell('orders/paid', held)).toBe('lines_missing')
    const counts = b.paymentFor(order)
    expect(await b.tell('orders/paid', counts)).toBe('settled')
    await b.world.confirm()
    return { order, counts, held }
  }
}

/** What is done to the other payment depends on what it waits for; all the rest is the same however it came. */
const OF_THE_OTHER = CASES.filter(({ name }) => name.includes('the other'))

for (const [way, cases] of [
  ['paid twice', CASES],
  ['paid twice at once', CASES.slice(0, 1)],
  ['paid with a line missing, then in full', OF_THE_OTHER]
] as const)
  test.for(cases)(`an order is ${way}, and then: $name`, async ({ happens, after }) => {
    const before = await b.books()
    const twice = await WAYS[way]()
    expect(Number((await b.books())?.revenue) - Number(before?.revenue)).toBe(20)
    await happens(twice)
    await b.world.confirm()
    expect(await seen(twice)).toEqual(after)
    await expectSound()
    await endHeld(twice)
  })

test.for(CASES.filter(({ early }) => early !== null))(
  'an order is paid, and before it is paid once more: $name',
  async ({ happens, after, early }) => {
    const twice = await paidTwice()
    await happens(twice)
    await b.world.confirm()
    await b.tell('orders/paid', twice.held)
    expect(await seen(twice)).toEqual({ ...after, ...early })
    await expectSound()
    await endHeld(twice)
  }
)

/** Whatever happened, the other payment can be ignored and then refunded in the console; the order does not change. */
async function endHeld(twice: Twice): Promise<void> {
  const { order, held } = twice
  const before = await seen(twice)
  for (const { id } of await b.openOf(held)) {
    const open = (await b.openOf(held)).find(one => one.id === id)
    if (open) expect(await b.act(open, 'ignore', { note: 'seen' })).toMatchObject({ code: 2000 })
  }
  expect(await b.openOf(held)).toEqual([])
  if (before.held[0] !== 'refunded')
    expect(await refundInConsole(order, { platform_order: held.name })).toBe('refunded')
  expect(await seen(twice)).toEqual({ ...before, held: BACK })
  await expectSound()
}

test('a payment that a delivery and an administrator settle at once counts once', async () => {
  const { ctx } = b.world.shop
  const placed = await b.world.place(b.buyer)
  const half = b.paymentFor(placed, { lines: { '11': 4, '901': 4 }, amount: '10.00' })
  expect(await b.tell('orders/paid', half)).toBe('lines_missing')
  const [entry] = await b.openOf(half)
  expect((await b.admin.post(`/api/orders/order_list/${placed.id}/devery_order/`)).status).toBe(200)
  const { taskId } = await b.world.row(placed.id)
  const untilBlocked = (count: number) =>
    vi.waitFor(
      async () => {
        const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        expect((await b.db().execute(waiting)).rows.length).toBeGreaterThanOrEqual(count)
      },
      { timeout: 30_000 }
    )
  const both: Promise<unknown>[] = []
  await ctx.db.transaction(async tx => {
    await tx.execute(sql`select 1 from orders where id = ${placed.id} for update`)
    both.push(runTask(ctx, deliveryPorts, { orderId: placed.id, taskId: taskId ?? '' }))
    await untilBlocked(1)
    both.push(b.act(entry, 'apply', { order: placed.publicId }))
    await untilBlocked(2)
  })
  expect((await Promise.all(both))[1]).toMatchObject({ status: 409, data: { reason: 'payment_settled' } })
  await b.world.confirm()
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivered', payAmount: '10.00' })
  expect(await b.paymentRow(half)).toMatchObject({ kind: 'purchase', accepted: true })
})
