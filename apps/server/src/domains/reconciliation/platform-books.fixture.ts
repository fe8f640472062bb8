import type { eventHandlers } from '../../event-handlers.ts'
import { EventWaits } from '../commerce/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { askRefund } from '../payments/ask-refund.fixture.ts'
import { LINES, type Books, type Paid } from '../payments/books.fixture.ts'
import type { RefundMade } from '../payments/refund-platform.fixture.ts'
import { work } from './platform-orders.fixture.ts'
import { queueUnreadOrders } from './read-order.ts'
import { reconcile, says } from './reconciling.fixture.ts'

/** `begun`: the part that was made at once. `made`: what the platform answers about it. All in cents. */
type Refund = { id: number; cents: number; begun: number; status: 'pending' | 'made' | 'failed'; made: RefundMade }
export type PlatformPayment = { paid: Paid; received: number; refunds: Refund[]; dispute: string | null }
type Report = { topic: keyof typeof eventHandlers; payload: object }

export const money = (cents: number): string => (cents / 100).toFixed(2)
const sum = (refunds: readonly Refund[], of: (refund: Refund) => number) =>
  refunds.reduce((cents, refund) => cents + of(refund), 0)

/** What the platform has refunded. */
export const backOf = ({ refunds }: PlatformPayment): number =>
  sum(refunds, ({ cents, begun, status }) => (status === 'made' ? cents : begun))
/** What it may still refund. */
const leftOf = ({ received, refunds }: PlatformPayment): number =>
  received - sum(refunds, ({ cents, begun, status }) => (status === 'failed' ? begun : cents))

let lastId = 770_000

/** The platform's own books of one order's payments, and its reports, which may be late, repeated or lost. */
export function startPlatformBooks(b: Books, order: OrderRow) {
  const { world } = b
  const payments: PlatformPayment[] = []
  const unsent: Report[] = []

  /** The order has changed, and the platform's API shows it. */
  function publish(payment: PlatformPayment): void {
    const { paid, refunds, dispute } = payment
    const id = `gid://shopify/OrderDisputeSummary/${7000 + (paid.id % 1000)}`
    const disputes = dispute === null ? [] : [{ id, initiatedAs: 'CHARGEBACK', status: dispute.toUpperCase() }]
    for (const { made, status, begun } of refunds)
      made.status = status === 'pending' ? 'PENDING' : status === 'made' || begun > 0 ? 'SUCCESS' : 'FAILURE'
    const listed = refunds.map(one => ({ id: one.id, amount: money(one.status === 'made' ? one.cents : one.begun) }))
    says(b, { ...paid, total_price: money(payment.received) }, listed, { disputes })
  }

  function paidReport(payment: PlatformPayment): Report {
    const { received } = payment
    const back = backOf(payment)
    const financial_status = back === 0 ? 'paid' : back < received ? 'partially_refunded' : 'refunded'
    const sums = {
      total_price: money(received),
      current_total_price: money(received - back),
      total_outstanding: '0.00'
    }
    const payload = { ...payment.paid, ...sums, financial_status, updated_at: b.now().toISOString() }
    return { topic: 'orders/paid', payload }
  }

  function addRefund(payment: PlatformPayment, made: RefundMade, begun: number, status: Refund['status']): void {
    const cents = Math.round(Number(made.amount) * 100)
    payment.refunds.push({ id: made.id, cents, begun, status, made })
    publish(payment)
    const parts = [
      ['success', status === 'made' ? cents : begun],
      [status === 'failed' ? 'failure' : 'pending', status === 'made' ? 0 : cents - begun]
    ] as const
    const transactions = parts
      .filter(([, part]) => part > 0)
      .map(([word, part]) => ({ kind: 'refund', status: word, amount: money(part), currency: 'USD' }))
    unsent.push({ topic: 'refunds/create', payload: { id: made.id, order_id: payment.paid.id, transactions } })
  }

  /** The shop tries an event that waits again with the next ones. */
  async function orWaits(run: () => Promise<unknown>): Promise<void> {
    await run().catch((error: unknown) => {
      if (!(error instanceof EventWaits)) throw error
    })
  }

  return {
    payments,
    unsent,
    backOf,

    pay(more: { renewal?: boolean; isShort?: boolean } = {}): void {
      const { renewal = false, isShort = false } = more
      const paid = b.paymentFor(order, { renewal, lines: isShort ? { '11': 8 } : LINES })
      const payment = { paid, received: 2000, refunds: [], dispute: null }
      payments.push(payment)
      publish(payment)
      unsent.push(paidReport(payment))
    },

    /** The order is edited: it has all lines, and maybe the buyer pays more. */
    edit(payment: PlatformPayment, cents: number): void {
      payment.received += cents
      payment.paid = { ...payment.paid, line_items: b.paymentFor(order).line_items }
      publish(payment)
      unsent.push(paidReport(payment))
    },

    /** Refunds at most this much in the platform's own console. @param begun the part that is made although it is pending */
    refund(payment: PlatformPayment, most: number, status: Refund['status'], begun = 0): void {
      const cents = Math.min(leftOf(payment), most)
      if (cents <= begun) return
      const made = { platformOrderId: String(payment.paid.id), amount: money(cents), id: ++lastId, status: 'PENDING' }
      world.refundsMade.push(made as RefundMade)
      addRefund(payment, made as RefundMade, begun, status)
    },

    /** An administrator asks the shop for a refund, whose answer may be cut off. */
    async refundInShop(payment: PlatformPayment, amount: string | null, how: 'made' | 'pending' | 'cut off') {
      const count = world.refundsMade.length
      const left = leftOf(payment)
      const form = { platform_order: payment.paid.name, ...(amount === null ? {} : { amount }) }
      world.refundReplies.as = how === 'cut off' ? 'half' : 'whole'
      const asked = await askRefund(b.admin, order, form)
      world.refundReplies.as = 'whole'
      const made = world.refundsMade[count]
      if (!made) return asked
      const isMore = Number(made.amount) * 100 > left
      addRefund(payment, made, 0, isMore ? 'failed' : how === 'pending' ? 'pending' : 'made')
      return asked
    },

    /** The first refund that is `from` becomes `to`. No webhook reports it. */
    change(payment: PlatformPayment, from: Refund['status'], to: Refund['status']): void {
      const refund = payment.refunds.find(({ status }) => status === from)
      if (!refund) return
      refund.status = to
      publish(payment)
    },

    dispute(payment: PlatformPayment, status: 'needs_response' | 'won', isSilent: boolean): void {
      if (status === 'won' ? payment.dispute === null : payment.dispute !== null) return
      payment.dispute = status
      publish(payment)
      if (isSilent) return
      const { paid, received } = payment
      const topic = status === 'won' ? 'disputes/update' : 'disputes/create'
      const told = { id: 7000 + (paid.id % 1000), order_id: paid.id, type: 'chargeback', status, currency: 'USD' }
      unsent.push({ topic, payload: { ...told, amount: money(received) } })
    },

    /** Sends one of the waiting reports, which may come again. */
    send: async (at: number, { again = false } = {}) => {
      const place = at % Math.max(unsent.length, 1)
      const [report] = again ? unsent.slice(place, place + 1) : unsent.splice(place, 1)
      if (report) await orWaits(() => b.tell(report.topic, report.payload))
    },
    lose: (at: number) => void unsent.splice(at % Math.max(unsent.length, 1), 1),

    /** As the job of every five minutes. */
    async read(): Promise<void> {
      await queueUnreadOrders(world.shop.ctx)
      await orWaits(() => reconcile(b))
      await orWaits(() => work(world))
    },
    /** Each order counts as changed. */
    touch: () => payments.forEach(publish)
  }
}

export type PlatformBooks = ReturnType<typeof startPlatformBooks>
