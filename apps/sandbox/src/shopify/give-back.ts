import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { toCents, toMoney } from '../kit/money.ts'
import type { Store } from '../kit/store.ts'
import type { Deliveries } from './deliveries.ts'
import { disputePayload, orderPayload, refundedCents, refundPayload } from './payloads.ts'
import { nextId, type PlatformOrder, type PlatformState } from './state.ts'

const Amount = z.string().regex(/^\d{1,9}(\.\d{1,2})?$/, 'has to be an amount like "12.50"')
const Refund = z.object({ amount: Amount.optional() }).default({})
/** New quantities by variant, of lines that the order has. */
const Edit = z.object({ quantities: z.record(z.string(), z.number().int().min(0)) })
const DisputeBody = z
  .object({
    type: z.enum(['chargeback', 'inquiry']).default('chargeback'),
    status: z.enum(['needs_response', 'under_review', 'won', 'lost', 'accepted']).default('needs_response'),
    amount: Amount.optional(),
    /** The dispute's id: given, it is an update of that one. */
    id: z.string().optional()
  })
  .default({ type: 'chargeback', status: 'needs_response' })

type Refunded = { ok: true; refund: PlatformOrder['refunds'][number] } | { ok: false; message: string }
export type GiveBack = ReturnType<typeof createGiveBack>

/** Gives the money of paid orders back, and tells the shop. */
export function createGiveBack(options: {
  store: Store<PlatformState>
  deliveries: Pick<Deliveries, 'emit'>
  base: () => string
  now: () => number
}) {
  const { store, deliveries, base, now } = options
  const at = () => new Date(now()).toISOString()

  /** Without an amount all that is left. @param key asked for again with it, the refund is made once */
  async function refund(order: PlatformOrder, amount?: string, key: string | null = null): Promise<Refunded> {
    const before = key === null ? undefined : order.refunds.find(one => one.key === key)
    if (before) return { ok: true, refund: before }
    const left = toCents(order.totalPrice) - refundedCents(order)
    const cents = amount === undefined ? left : toCents(amount)
    if (cents <= 0 || cents > left)
      return { ok: false, message: `Refund amount must be between 0.01 and ${toMoney(left)}` }
    const made = { id: nextId(store.data), amount: toMoney(cents), key, createdAt: at() }
    order.refunds.push(made)
    order.updatedAt = made.createdAt
    await deliveries.emit('refunds/create', refundPayload(order, made))
    return { ok: true, refund: made }
  }

  return {
    refund,

    /** Cancels an order once, and gives back what is left of its money. */
    async cancel(order: PlatformOrder): Promise<void> {
      if (order.cancelledAt) return
      order.cancelledAt = at()
      order.updatedAt = order.cancelledAt
      if (toCents(order.totalPrice) > refundedCents(order)) await refund(order)
      await deliveries.emit('orders/cancelled', orderPayload(order, base()))
    }
  }
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
    await giveBack.cancel(order)
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
