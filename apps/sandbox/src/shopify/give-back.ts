import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { toCents, toMoney } from '../kit/money.ts'
import type { Store } from '../kit/store.ts'
import type { Deliveries } from './deliveries.ts'
import { leftOf, paymentsOf, refundedCents, spread } from './order-money.ts'
import { disputePayload, orderPayload, refundPayload } from './payloads.ts'
import { nextId, type OrderRefund, type PlatformOrder, type PlatformState } from './state.ts'

const Amount = z.string().regex(/^\d{1,9}(\.\d{1,2})?$/, 'has to be an amount like "12.50"')
const Refund = z.object({ amount: Amount.optional() }).default({})
/** The merchant may cancel an order and keep its money. */
const Cancel = z.object({ refund: z.boolean().default(true) }).default({ refund: true })
/** New quantities by variant, for lines of the order. */
const Edit = z.object({ quantities: z.record(z.string(), z.number().int().min(0)) })
const DisputeBody = z
  .object({
    type: z.enum(['chargeback', 'inquiry']).default('chargeback'),
    status: z.enum(['needs_response', 'under_review', 'won', 'lost', 'accepted']).default('needs_response'),
    amount: Amount.optional(),
    /** The id of the dispute to update; without it a new one begins. */
    id: z.string().optional()
  })
  .default({ type: 'chargeback', status: 'needs_response' })

type Refunded = { ok: true; refund: OrderRefund } | { ok: false; message: string }
/** The requested amount for each payment. */
export type AskedParts = { parentId: string; amount: string }[]
export type GiveBack = ReturnType<typeof createGiveBack>

/** Refunds and cancels paid orders, and sends the webhooks. */
export function createGiveBack(options: {
  store: Store<PlatformState>
  deliveries: Pick<Deliveries, 'emit'>
  base: () => string
  now: () => number
}) {
  const { store, deliveries, base, now } = options
  const at = () => new Date(now()).toISOString()

  /** Refunds these parts. @param input all that was sent: the platform takes a key again only with the same input */
  async function refundParts(
    order: PlatformOrder,
    asked: AskedParts,
    { key = null, input, note = '' }: { key?: string | null; input?: string; note?: string } = {}
  ): Promise<Refunded> {
    const before = key === null ? undefined : order.refunds.find(one => one.key === key)
    if (before) return before.input === input ? { ok: true, refund: before } : { ok: false, message: OTHER_PARAMETERS }
    const message = wrongIn(order, asked)
    if (message !== null) return { ok: false, message }
    const made: OrderRefund = {
      id: nextId(store.data),
      amount: toMoney(sumOf(asked)),
      key,
      ...(input === undefined ? {} : { input }),
      note,
      createdAt: at(),
      parts: asked.map(({ parentId, amount }) => ({
        id: nextId(store.data),
        parentId,
        amount: toMoney(toCents(amount))
      }))
    }
    order.refunds.push(made)
    order.updatedAt = made.createdAt
    await deliveries.emit('refunds/create', refundPayload(order, made))
    return { ok: true, refund: made }
  }

  /** As a merchant does it on the platform; without an amount, all that is left. */
  async function refund(order: PlatformOrder, amount?: string): Promise<Refunded> {
    const left = toCents(order.totalPrice) - refundedCents(order)
    const cents = amount === undefined ? left : toCents(amount)
    if (cents <= 0 || cents > left) return { ok: false, message: tooMuch(left) }
    return refundParts(order, spread(order, cents))
  }

  return {
    refund,
    refundParts,

    /** Cancels an order once, and refunds what is left if the merchant wants that. */
    async cancel(order: PlatformOrder, isRefunded: boolean): Promise<void> {
      if (order.cancelledAt) return
      order.cancelledAt = at()
      order.updatedAt = order.cancelledAt
      if (isRefunded && toCents(order.totalPrice) > refundedCents(order)) await refund(order)
      await deliveries.emit('orders/cancelled', orderPayload(order, base()))
    }
  }
}

/** The platform's message for a known key with another request. */
const OTHER_PARAMETERS = 'The same idempotency key cannot be used with different operation parameters.'
const tooMuch = (left: number) => `Refund amount must be between 0.01 and ${toMoney(left)}`
const sumOf = (parts: AskedParts): number => parts.reduce((sum, { amount }) => sum + toCents(amount), 0)

/** No payment refunds more than it has left. */
function wrongIn(order: PlatformOrder, asked: AskedParts): string | null {
  if (asked.length === 0) return tooMuch(toCents(order.totalPrice) - refundedCents(order))
  for (const parentId of new Set(asked.map(part => part.parentId))) {
    const payment = paymentsOf(order).find(({ id }) => id === parentId)
    if (!payment) return 'Parent transaction does not exist'
    const parts = asked.filter(part => part.parentId === parentId)
    const left = leftOf(order, payment)
    if (sumOf(parts) > left || parts.some(({ amount }) => toCents(amount) <= 0)) return tooMuch(left)
  }
  return null
}

type ById = { Params: { id: string } }

/** /sandbox/orders/…: edits, refunds, cancellations and disputes. */
export function giveBackRoutes(
  app: FastifyInstance,
  options: { store: Store<PlatformState>; giveBack: GiveBack; deliveries: Pick<Deliveries, 'emit'>; now: () => number }
): void {
  const { store, giveBack, deliveries, now } = options
  const find = (id: string) => store.data.orders.find(order => order.id === id)

  app.patch<ById>('/sandbox/orders/:id', async (request, reply) => {
    const order = find(request.params.id)
    if (!order) return reply.code(404).send({ error: 'no such order' })
    const { quantities } = Edit.parse(request.body)
    order.lines = order.lines.map(line => ({ ...line, quantity: quantities[line.variantId] ?? line.quantity }))
    order.updatedAt = new Date(now()).toISOString()
    await store.save()
    return order
  })

  app.post<ById>('/sandbox/orders/:id/refund', async (request, reply) => {
    const order = find(request.params.id)
    if (!order) return reply.code(404).send({ error: 'no such order' })
    const refunded = await giveBack.refund(order, Refund.parse(request.body ?? undefined).amount)
    return refunded.ok ? refunded.refund : reply.code(400).send({ error: refunded.message })
  })

  app.post<ById>('/sandbox/orders/:id/cancel', async (request, reply) => {
    const order = find(request.params.id)
    if (!order) return reply.code(404).send({ error: 'no such order' })
    await giveBack.cancel(order, Cancel.parse(request.body ?? undefined).refund)
    return { cancelled_at: order.cancelledAt }
  })

  app.post<ById>('/sandbox/orders/:id/dispute', async (request, reply) => {
    const order = find(request.params.id)
    if (!order) return reply.code(404).send({ error: 'no such order' })
    const { id, type, status, amount } = DisputeBody.parse(request.body ?? undefined)
    const dispute = { id: id ?? nextId(store.data), type, status, amount: amount ?? order.totalPrice }
    const topic = id === undefined ? 'disputes/create' : 'disputes/update'
    await deliveries.emit(topic, disputePayload(order, dispute, new Date(now()).toISOString()))
    return dispute
  })
}
