import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { askRefund } from '../payments/ask-refund.fixture.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { paymentRefunds } from '../payments/tables.ts'
import { pendingIn } from './pending-refunds.fixture.ts'
import { reconcile, says } from './reconciling.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  b.world.platformOrders.known.clear()
  await b.db().update(paymentRefunds).set({ awaitsRead: false })
})
afterAll(() => b?.world.close())

const { begin, list, tell, readFor, statesOf } = pendingIn(() => b)
const outcomes = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome }) => outcome)
const counted = (amount: string) => ({ state: 'counted', amount })
const pending = (amount: string) => ({ state: 'answered', amount, awaitsRead: true })

test.for(['made', 'refused'])(
  'of a refund of all in parts each counts once the platform made it (the last is %s)',
  async end => {
    const { order, paid } = await b.delivered()
    const made = begin(paid)
    list(paid, [{ id: made.id, amount: '4.00' }])
    const parts: [string, string][] = [
      ['success', '4.00'],
      ['awaiting_response', '16.00']
    ]
    expect(await tell(paid, made, parts)).toBe('refunded')
    await readFor(3 * HOUR)
    expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '4.00' })
    list(paid, [{ id: made.id, amount: '9.00' }])
    await readFor(HOUR)
    expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '9.00' })
    expect(await outcomes(paid)).toEqual([])
    made.status = 'SUCCESS'
    if (end === 'made') list(paid, [{ id: made.id, amount: '20.00' }])
    await readFor(2 * HOUR)
    expect(await b.world.row(order.id)).toMatchObject(
      end === 'made' ? { state: 'refunded', refundedAmount: '20.00' } : { state: 'delivered', refundedAmount: '9.00' }
    )
    expect(await outcomes(paid)).toEqual(end === 'made' ? [] : ['refund_failed'])
  }
)

test.for(['12.00', '20.00'])(
  'a late report of parts changes nothing after reading the order counted all %s',
  async amount => {
    const { order, paid } = await b.delivered()
    const made = begin(paid, amount)
    made.status = 'SUCCESS'
    says(b, paid, [{ id: made.id, amount }])
    await reconcile(b)
    const before = await statesOf(paid)
    expect(before).toMatchObject([counted(amount)])
    const late: [string, string][] = [
      ['success', '4.00'],
      ['pending', (Number(amount) - 4).toFixed(2)]
    ]
    expect(await tell(paid, made, late)).toBe('ignored')
    await readFor(2 * HOUR)
    expect((await statesOf(paid)).map(({ state }) => state)).toEqual(['counted'])
    expect(await b.world.row(order.id)).toMatchObject({ refundedAmount: amount })
    expect(await outcomes(paid)).not.toContain('refund_failed')
  }
)

test.for([
  [
    'made',
    'SUCCESS',
    '12.00',
    [
      ['counted', '10.00'],
      ['counted', '2.00']
    ]
  ],
  [
    'failed',
    'SUCCESS',
    '10.00',
    [
      ['counted', '10.00'],
      ['refused', '2.00']
    ]
  ]
] as const)(
  'of a refund over two ways of payment a part is pending, and ends as %s',
  async ([, status, listed, ends]) => {
    const { order, paid } = await b.delivered()
    expect(await askRefund(b.admin, order, { amount: '12.00' })).toMatchObject({ code: 2000 })
    const made = b.world.refundsMade.at(-1)
    if (!made) throw new Error('no refund was made')
    made.status = 'PENDING'
    const transactions: [string, string][] = [
      ['success', '10.00'],
      ['pending', '2.00']
    ]
    expect(await tell(paid, made, transactions)).toBe('partly_refunded')
    expect(await tell(paid, made, transactions)).toBe('ignored')
    list(paid, [{ id: made.id, amount: '10.00' }])
    await readFor(2 * HOUR)
    const count = b.world.refundsMade.length
    expect(await askRefund(b.admin, order, { amount: '2.00' })).toMatchObject({ data: { reason: 'refund_pending' } })
    expect(b.world.refundsMade).toHaveLength(count)
    made.status = status
    list(paid, [{ id: made.id, amount: listed }])
    await readFor(3 * HOUR)
    expect((await statesOf(paid)).map(({ state, amount }) => [state, amount])).toEqual(ends)
    expect(await b.world.row(order.id)).toMatchObject({ refundedAmount: listed })
  }
)

test('a part that fails after fourteen days does not keep the rest from being refunded', async () => {
  const { order, paid } = await b.delivered()
  const made = begin(paid, '12.00')
  await tell(paid, made, [
    ['success', '4.00'],
    ['pending', '8.00']
  ])
  list(paid, [{ id: made.id, amount: '4.00' }])
  await b.world.advance(14 * DAY)
  await readFor(2 * HOUR)
  made.status = 'SUCCESS'
  const ask = () => askRefund(b.admin, order, { amount: '8.00' })
  expect(await ask()).toMatchObject({ data: { reason: 'refund_uncounted' } })
  await readFor(2 * HOUR)
  expect(await ask()).toMatchObject({ code: 2000 })
})

test.for(['asked for in the console', 'reported as wholly pending'])(
  'of a refund that was %s and of which parts are made one by one, the rest is pending until it is made',
  async how => {
    const { order, paid } = await b.delivered()
    if (how === 'asked for in the console') {
      b.world.refundReplies.before = async one => void (one.status = 'PENDING')
      expect(await askRefund(b.admin, order, { amount: '12.00' })).toMatchObject({ code: 2000 })
      b.world.refundReplies.before = undefined
    } else await tell(paid, begin(paid, '12.00'), [['pending', '12.00']])
    const made = b.world.refundsMade.at(-1)
    if (!made) throw new Error('no refund was made')
    const count = b.world.refundsMade.length
    for (const [listed, states] of [
      ['4.00', [counted('4.00'), pending('8.00')]],
      ['7.00', [counted('4.00'), pending('5.00'), counted('3.00')]]
    ] as const) {
      // No webhook comes.
      list(paid, [{ id: made.id, amount: listed }])
      await readFor(2 * HOUR)
      expect(await statesOf(paid)).toMatchObject(states)
      expect(await askRefund(b.admin, order, { amount: '5.00' })).toMatchObject({ data: { reason: 'refund_pending' } })
      expect(b.world.refundsMade).toHaveLength(count)
    }
    // The webhook of the first part is late.
    const late = [
      ['success', '4.00'],
      ['pending', '8.00']
    ] satisfies [string, string][]
    expect(await tell(paid, made, late)).toBe('ignored')
    made.status = 'SUCCESS'
    list(paid, [{ id: made.id, amount: '12.00' }])
    await readFor(2 * HOUR)
    expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '12.00' })
    expect((await statesOf(paid)).map(({ awaitsRead }) => awaitsRead)).not.toContain(true)
    expect(await outcomes(paid)).not.toContain('refund_failed')
  }
)

test.for([
  { name: 'nothing', first: '0.00' },
  { name: 'a part', first: '4.00' }
])('each part of a refund without any webhook counts once, $name made at first', async ({ first }) => {
  const { order, paid } = await b.delivered()
  const made = begin(paid)
  for (const amount of [first, '7.00', '15.00', '20.00']) {
    if (amount === '20.00') made.status = 'SUCCESS'
    // Its order counts as changed only at first.
    if (amount === first) says(b, paid, [{ id: made.id, amount }])
    else list(paid, [{ id: made.id, amount }])
    await reconcile(b)
    await readFor(2 * HOUR)
    expect(await b.world.row(order.id)).toMatchObject({ refundedAmount: amount })
    expect(await outcomes(paid)).not.toContain('refund_failed')
  }
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded' })
  expect((await statesOf(paid)).map(({ awaitsRead }) => awaitsRead)).not.toContain(true)
})

test('a part that is made between the reads of the refund and of its order counts, and did not fail', async () => {
  const { order, paid } = await b.delivered()
  const made = begin(paid)
  list(paid, [{ id: made.id, amount: '4.00' }])
  await tell(paid, made, [
    ['success', '4.00'],
    ['pending', '16.00']
  ])
  await b.world.advance(11 * MINUTE)
  b.world.refundReplies.afterReading = () => {
    made.status = 'SUCCESS'
    list(paid, [{ id: made.id, amount: '20.00' }])
  }
  await readFor(2 * HOUR)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect((await b.entriesOf(paid)).map(({ outcome }) => outcome)).not.toContain('refund_failed')
})

test('a refund without a result that is made after all, at once or in parts, waits for no administrator', async () => {
  for (const parts of [['5.00'], ['2.00', '5.00']]) {
    const { paid } = await b.delivered()
    const made = begin(paid, '5.00')
    list(paid, [{ id: made.id, amount: '0.00' }])
    await tell(paid, made, [['pending', '5.00']])
    await b.world.advance(14 * DAY)
    await readFor(2 * HOUR)
    expect(await outcomes(paid)).toEqual(['refund_stuck'])
    for (const amount of parts) {
      expect(await outcomes(paid)).toContain('refund_stuck')
      says(b, paid, [{ id: made.id, amount }])
      await reconcile(b)
    }
    expect(new Set(await outcomes(paid))).toEqual(new Set(['partly_refunded']))
  }
})

test('a renewal that falls short waits for an administrator, once, if a part of it was pending at its first report', async () => {
  const { order } = await b.delivered()
  const short = b.paymentFor(order, { renewal: true, lines: { '11': 8 } })
  const paid = { ...short, updated_at: b.now().toISOString() }
  const made = begin(paid, '1.00')
  await tell(paid, made, [['pending', '1.00']])
  await b.world.advance(11 * MINUTE)
  list(paid, [{ id: made.id, amount: '0.00' }])
  expect(await b.tell('orders/paid', paid)).toBe('ignored')
  await readFor(2 * HOUR)
  expect(await b.tell('orders/paid', { ...paid, updated_at: b.now().toISOString() })).toBe('ignored')
  expect(await outcomes(paid)).toEqual([])
  made.status = 'SUCCESS'
  says(b, paid, [{ id: made.id, amount: '1.00' }])
  await readFor(2 * HOUR)
  await reconcile(b)
  expect(await outcomes(paid)).toEqual(['lines_missing'])
  expect(await b.tell('orders/paid', { ...paid, updated_at: b.now().toISOString() })).toBe('ignored')
  expect(await outcomes(paid)).toEqual(['lines_missing'])
})

test('a part that fails waits for an administrator although the pending part is made', async () => {
  const { paid } = await b.delivered()
  const made = begin(paid, '18.00')
  await tell(paid, made, [
    ['success', '6.00'],
    ['pending', '12.00']
  ])
  list(paid, [{ id: made.id, amount: '0.00' }])
  await readFor(2 * HOUR)
  expect(await outcomes(paid)).toContain('refund_failed')
  made.status = 'SUCCESS'
  list(paid, [{ id: made.id, amount: '12.00' }])
  await readFor(2 * HOUR)
  expect(await outcomes(paid)).toContain('refund_failed')
  expect(await b.paymentRow(paid)).toMatchObject({ refundedAmount: '12.00' })
})

test.for([
  ['all', '20.00', '15.00', ['partly_refunded']],
  ['a part', '10.00', '6.00', ['partly_refunded']],
  ['a part that is made', '10.00', '10.00', []]
] as const)(
  'an administrator who asks for %s (%s) decides about the lease if %s is refunded and the rest fails',
  async ([, amount, made, told]) => {
    const { order, paid } = await b.delivered()
    expect(await askRefund(b.admin, order, { amount })).toMatchObject({ code: 2000 })
    const asked = b.world.refundsMade.at(-1)
    if (!asked) throw new Error('no refund was made')
    const rest = (Number(amount) - Number(made)).toFixed(2)
    await tell(paid, asked, [['success', made], ...(rest === '0.00' ? [] : [['failure', rest] as [string, string]])])
    list(paid, [{ id: asked.id, amount: made }])
    await readFor(2 * HOUR)
    expect(await outcomes(paid)).toEqual(told)
  }
)

test('an administrator who asks for all decides about the lease if more is paid before it is refunded', async () => {
  const { order, paid } = await b.delivered()
  b.world.refundReplies.before = async one => void (one.status = 'PENDING')
  expect(await askRefund(b.admin, order, {})).toMatchObject({ code: 2000 })
  b.world.refundReplies.before = undefined
  const made = b.world.refundsMade.at(-1)
  if (!made) throw new Error('no refund was made')
  list(paid, [{ id: made.id, amount: '0.00' }])
  await readFor(2 * HOUR)
  const grown = { ...paid, total_price: '21.00', updated_at: b.now().toISOString() }
  expect(await b.tell('orders/paid', grown)).toBe('ignored')
  made.status = 'SUCCESS'
  says(b, grown, [{ id: made.id, amount: '20.00' }])
  await readFor(2 * HOUR)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '20.00' })
  expect(await outcomes(paid)).toEqual(['partly_refunded'])
})
