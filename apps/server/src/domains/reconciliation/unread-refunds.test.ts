import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { work } from './platform-orders.fixture.ts'
import { pendingIn } from './pending-refunds.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
// The platform returns none of the orders: they are too old for the app.
beforeEach(async () => {
  b.world.platformOrders.known.clear()
})
afterAll(() => b?.world.close())

const { tell, readFor, statesOf } = pendingIn(() => b)
let lastId = 880_000
const openOf = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome }) => outcome)
const hear = (paid: Paid, status: string, kind = 'refund') =>
  b.tell('order_transactions/create', { id: ++lastId, order_id: paid.id, kind, status })
/** A delivered order whose refund of everything the platform has as pending, and which was read in vain. */
async function pending(amount = '20.00') {
  const { order, paid } = await b.delivered()
  const refund = { id: ++lastId } as Parameters<typeof tell>[1]
  expect(await tell(paid, refund, [['pending', amount]])).toBe('ignored')
  await readFor(30 * MINUTE)
  return { order, paid, refund }
}
const stateOf = async ({ id }: { id: number }) => (await b.world.row(id)).state

test('a pending refund of an order that cannot be read counts with the webhook of its result', async () => {
  const { order, paid } = await pending()
  expect(await statesOf(paid)).toEqual([{ state: 'answered', amount: '20.00', awaitsRead: true }])
  for (let times = 0; times < 2; times++) {
    await hear(paid, 'success')
    await work(b.world)
  }
  expect(await statesOf(paid)).toMatchObject([{ state: 'counted', amount: '20.00' }])
  expect(await stateOf(order)).toBe('refunded')
  expect(await openOf(paid)).toEqual([])
})

test('it is open as failed with the webhook of its failure', async () => {
  const { order, paid } = await pending()
  await hear(paid, 'failure')
  await work(b.world)
  expect(await statesOf(paid)).toEqual([{ state: 'refused', amount: '20.00', awaitsRead: false }])
  expect(await stateOf(order)).toBe('delivered')
  expect(await openOf(paid)).toEqual(['refund_failed'])
})

test('it is open as stuck after 14 days without a result, and closes with a late one', async () => {
  const { order, paid } = await pending()
  await hear(paid, 'pending')
  await hear(paid, 'success', 'capture')
  await b.world.advance(13 * DAY)
  await readFor(2 * HOUR)
  expect(await openOf(paid)).toEqual([])
  await b.world.advance(DAY)
  await readFor(2 * HOUR)
  expect(await openOf(paid)).toEqual(['refund_stuck'])
  await hear(paid, 'success')
  await work(b.world)
  expect(await stateOf(order)).toBe('refunded')
  expect(await openOf(paid)).toEqual([])
})

test('a webhook that may be about the part that was made decides nothing about the pending part', async () => {
  const { order, paid } = await b.delivered()
  const refund = { id: ++lastId } as Parameters<typeof tell>[1]
  await tell(paid, refund, [
    ['success', '5.00'],
    ['pending', '15.00']
  ])
  await readFor(30 * MINUTE)
  await hear(paid, 'success')
  await work(b.world)
  expect((await statesOf(paid)).map(({ state }) => state).toSorted()).toEqual(['answered', 'counted'])
  expect(await stateOf(order)).toBe('delivered')
})

test('a webhook that may be about another refund decides nothing', async () => {
  const { order, paid } = await pending('8.00')
  await b.refund(paid, '5.00')
  await hear(paid, 'success')
  await work(b.world)
  expect((await statesOf(paid)).map(({ state }) => state)).toEqual(['answered', 'counted'])
  expect(await stateOf(order)).toBe('delivered')
})
