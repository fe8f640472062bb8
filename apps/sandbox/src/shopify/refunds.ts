import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { toCents, toMoney } from '../kit/http.ts'
import type { Store } from '../kit/store.ts'
import type { Deliveries } from './deliveries.ts'
import { leftOf, leftOfAll, partsOf, paymentsOf, spread, statusOf } from './order-money.ts'
import { disputePayload, orderPayload, refundPayload, transactionPayloads } from './payloads.ts'
import {
  DISPUTE_STATUSES,
  DISPUTE_TYPES,
  nextId,
  type OrderDispute,
  type OrderRefund,
  type PlatformOrder,
  type PlatformState
} from './state.ts'

const Amount = z.string().regex(/^\d{1,9}(\.\d{1,2})?$/, 'has to be an amount like "12.50"')
const Refund = z.object({ amount: Amount.optional(), pending: z.boolean().default(false) }).default({ pending: false })
const Result = z.object({ status: z.enum(['success', 'failure']) })
/** The merchant may cancel an order and keep its money. */
const Cancel = z.object({ refund: z.boolean().default(true) }).default({ refund: true })
/** New quantities by variant, for lines of the order. */
const Edit = z.object({ quantities: z.record(z.string(), z.number().int().min(0)) })
const DisputeBody = z
  .object({
    type: z.enum(DISPUTE_TYPES).optional(),
    status: z.enum(DISPUTE_STATUSES).default('needs_response'),
    amount: Amount.optional(),
    /** The id of the dispute to update; without it a new one begins. */
    id: z.string().optional(),
    /** Sends no webhook, so that the shop has to find it by itself. */
    silent: z.boolean().default(false)
  })
  .default({ status: 'needs_response', silent: false })
/** States of a decided dispute. */
const FINAL: ReadonlySet<string> = new Set(['won', 'lost', 'accepted'])

type Refunded = { ok: true; refund: OrderRefund } | { ok: false; message: string }
type Asking = { key?: string | null; input?: string; note?: string; pending?: boolean }
/** The requested amount for each payment. */
export type AskedParts = { parentId: string; amount: string }[]
export type Refunds = ReturnType<typeof createRefunds>

/** Refunds and cancels paid orders, and sends the webhooks. */
export function createRefunds(options: {
  store: Store<PlatformState>
  deliveries: Pick<Deliveries, 'emit'>
  base: () => string
  now: () => number
}) {
  const { store, deliveries, base, now } = options
  const at = () => new Date(now()).toISOString()
  let pendingNext = 0

  /** Refunds these parts. @param input all that was sent: the platform takes a key again only with the same input */
  async function refundParts(
    order: PlatformOrder,
    asked: AskedParts,
    { key = null, input, note = '', pending = false }: Asking = {}
  ): Promise<Refunded> {
    const before = key === null ? undefined : order.refunds.find(one => one.key === key)
    if (before) return before.input === input ? { ok: true, refund: before } : { ok: false, message: OTHER_PARAMETERS }
    const message = wrongIn(order, asked)
    if (message !== null) return { ok: false, message }
    const isPending = pending || pendingNext > 0
    if (!pending && pendingNext > 0) pendingNext--
    const made: OrderRefund = {
      id: nextId(store.data),
      amount: toMoney(sumOf(asked)),
      key,
      ...(input === undefined ? {} : { input }),
      note,
      ...(isPending ? { status: 'pending' as const } : {}),
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
  async function refund(
    order: PlatformOrder,
    { amount, pending = false }: { amount?: string | undefined; pending?: boolean } = {}
  ): Promise<Refunded> {
    const left = leftOfAll(order)
    const cents = amount === undefined ? left : toCents(amount)
    if (cents <= 0 || cents > left) return { ok: false, message: tooMuch(left) }
    return refundParts(order, spread(order, cents), { pending })
  }

  /** Gives a pending refund its result, or lets one that was made fail. Its order does not count as changed. */
  async function endRefund(refundId: string, status: 'success' | 'failure'): Promise<OrderRefund | undefined> {
    const order = store.data.orders.find(({ refunds }) => refunds.some(({ id }) => id === refundId))
    const made = order?.refunds.find(({ id }) => id === refundId)
    if (!order || !made || made.status === 'failure' || statusOf(made) === status) return undefined
    if (made.status === 'pending')
      made.parts = partsOf(order, made).map(part => ({ ...part, resultId: nextId(store.data) }))
    made.status = status
    await deliveries.emit('order_transactions/create', ...transactionPayloads(order, made))
    return made
  }

  /** Begins or changes a dispute. Its order does not count as changed. */
  async function dispute(order: PlatformOrder, asked: z.infer<typeof DisputeBody>): Promise<OrderDispute> {
    const { id, type, status, amount, silent } = asked
    const known = order.disputes?.find(one => one.id === id)
    const changed: OrderDispute = {
      id: id ?? nextId(store.data),
      initiatedAs: known?.initiatedAs ?? type ?? 'chargeback',
      type: type ?? known?.type ?? 'chargeback',
      status,
      amount: amount ?? known?.amount ?? order.totalPrice,
      initiatedAt: known?.initiatedAt ?? at(),
      finalizedOn: FINAL.has(status) ? at() : null
    }
    order.disputes = [...(order.disputes ?? []).filter(one => one !== known), changed]
    if (silent) await store.save()
    else
      await deliveries.emit(known || id ? 'disputes/update' : 'disputes/create', disputePayload(order, changed, at()))
    return changed
  }

  return {
    refund,
    refundParts,
    endRefund,
    dispute,
    pendingNext: () => pendingNext,
    setPendingNext: (next: number): void => {
      pendingNext = next
    },

    /** Cancels an order once, and refunds what is left if the merchant wants that. */
    async cancel(order: PlatformOrder, isRefunded: boolean): Promise<void> {
      if (order.cancelledAt) return
      order.cancelledAt = at()
      order.updatedAt = order.cancelledAt
      if (isRefunded && leftOfAll(order) > 0) await refund(order)
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
  if (asked.length === 0) return tooMuch(leftOfAll(order))
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
export function refundRoutes(
  app: FastifyInstance,
  options: { store: Store<PlatformState>; giveBack: Refunds; now: () => number }
): void {
  const { store, giveBack, now } = options
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
    const refunded = await giveBack.refund(order, Refund.parse(request.body ?? undefined))
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
    return giveBack.dispute(order, DisputeBody.parse(request.body ?? undefined))
  })

  app.post<ById>('/sandbox/refunds/:id', async (request, reply) => {
    const ended = await giveBack.endRefund(request.params.id, Result.parse(request.body).status)
    return ended ?? reply.code(404).send({ error: 'no refund that can end so' })
  })
}
