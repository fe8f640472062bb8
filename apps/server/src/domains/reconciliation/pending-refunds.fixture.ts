import { MINUTE } from '../../infra/clock.ts'
import type { Books, Paid } from '../payments/books.fixture.ts'
import { refundRowsOf } from '../payments/index.ts'
import type { RefundMade } from '../payments/refund-platform.fixture.ts'
import { platformOrder, work } from './platform-orders.fixture.ts'
import { queueUnreadOrders } from './read-order.ts'

let lastId = 990_000

/** What tests of pending refunds do on the platform and in the shop. */
export const pendingIn = (books: () => Books) => ({
  /** A refund that is made in the platform's own console, and is pending at first. */
  begin: (paid: Paid, amount = '20.00'): RefundMade => {
    const made: RefundMade = { platformOrderId: String(paid.id), amount, id: ++lastId, status: 'PENDING' }
    books().world.refundsMade.push(made)
    return made
  },

  /** Sets what the platform lists as refunded. Its order does not count as changed. */
  list: (paid: Paid, refunds: { id: number; amount: string }[]): void => {
    books().world.platformOrders.known.set(String(paid.id), platformOrder(paid, refunds))
  },

  tell: (paid: Paid, { id }: RefundMade, transactions: [status: string, amount: string][]) =>
    books().tell('refunds/create', {
      id,
      order_id: paid.id,
      transactions: transactions.map(([status, amount]) => ({ kind: 'refund', status, amount, currency: 'USD' }))
    }),

  /**
   * Runs the reconciliation's reads, which the shop does every five minutes, as often as the test needs.
   * @returns how often the platform was asked for an order
   */
  readFor: async (milliseconds: number, every = 15 * MINUTE): Promise<number> => {
    const { world } = books()
    const before = world.platformOrders.asked
    for (let passed = 0; passed < milliseconds; passed += every) {
      await world.advance(every)
      await queueUnreadOrders(world.shop.ctx)
      await work(world)
    }
    return world.platformOrders.asked - before
  },

  statesOf: async (paid: Paid) =>
    (await refundRowsOf(books().db(), String(paid.id))).map(({ state, amount, awaitsRead }) => ({
      state,
      amount,
      awaitsRead
    }))
})
