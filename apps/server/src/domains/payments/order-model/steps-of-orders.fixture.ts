import { expect } from 'vitest'
import { deliveryPorts } from '../../../workers.ts'
import { runTask } from '../../delivery/tasks.ts'
import { earn } from './books.fixture.ts'
import {
  advance,
  centsOf,
  freeFor,
  keepable,
  lost,
  ORDERS,
  RESERVED,
  TERM,
  unserved,
  type Model,
  type ModelOrder,
  type ModelPayment,
  type Real,
  type Step
} from './model.fixture.ts'
import { takePlacement } from './placement.fixture.ts'
import { onOrder, step } from './step.fixture.ts'

export const place = (rule: number, blocks: number): Step =>
  step(`place(${rule}, ${blocks})`, async (model, real) => {
    if (model.orders.length === ORDERS) return
    const { world, buyer } = real
    const quantity = blocks * 8
    const asked = await buyer.post<{ id: number; order_id: string }>(
      '/api/orders/checkout',
      world.wanted(quantity, world.rules.slice(rule, rule + 1))
    )
    if (quantity > freeFor(model, rule)) return expect(asked.data).toMatchObject({ reason: 'out_of_stock' })
    expect(asked.code).toBe(2000)
    const { amount } = await world.row(asked.data.id)
    const order: ModelOrder = {
      id: asked.data.id,
      publicId: asked.data.order_id,
      amount,
      rule,
      quantity,
      state: 'placed',
      paid: false,
      purchase: null,
      reservedUntil: model.now + RESERVED,
      expiredAt: null,
      graceUntil: null,
      promisedUntil: null,
      endedAt: null,
      extraTerms: 0,
      shares: [],
      pending: new Set(),
      stopping: new Set(),
      live: new Set(),
      waiting: new Map()
    }
    model.orders.push(order)
    await takePlacement(model, real, [order])
  })

export const cancel = (nth: number): Step =>
  onOrder('cancel', nth, async (order, _model, { buyer }) => {
    const asked = await buyer.post(`/api/orders/order_list/${order.id}/cancel/`)
    if (order.state !== 'placed' && order.state !== 'cancelled') {
      return expect(asked.data).toMatchObject({ reason: 'order_not_unpaid' })
    }
    expect(asked.code).toBe(2000)
    Object.assign(order, { state: 'cancelled', shares: [] })
  })

let platformOrders = 990_000_000_000
/** The platform's id of its next order, refund or dispute. */
export const nextPlatformId = (): number => (platformOrders += 1)

function addPayment(model: Model, order: ModelOrder, kind: ModelPayment['kind']): ModelPayment {
  const payment: ModelPayment = {
    id: nextPlatformId(),
    order,
    kind,
    charged: centsOf(order.amount),
    accepted: false,
    back: 0,
    refunded: false,
    refunds: [],
    dispute: null,
    disputeWon: false,
    cancelled: false,
    termTaken: false,
    maturesAt: null
  }
  model.payments.push(payment)
  return payment
}

function accept(model: Model, payment: ModelPayment): void {
  payment.accepted = true
  earn(model.books, payment, model.now)
}

/** A paid order gets its reserved addresses, or others, or fails. @returns whether it is being delivered */
async function startServing(model: Model, real: Real, order: ModelOrder): Promise<boolean> {
  if (order.shares.length === 0 && order.quantity > freeFor(model, order.rule)) {
    order.state = 'failed'
    return false
  }
  order.state = 'delivering'
  await takePlacement(model, real, [order])
  return true
}

/** The payment that it failed with does not count. */
const waitsForPayment = ({ state, purchase }: ModelOrder) => state === 'failed' && !purchase?.accepted

/** Of another purchase of a paid order. After a refund it is no second payment. */
const outcomeOfAnother = ({ state }: ModelOrder) => (state === 'refunded' ? 'too_late' : 'paid_twice')

/** Pays in time, late, after a cancellation, or once more. */
export const pay = (nth: number): Step =>
  onOrder('pay', nth, async (order, model, real) => {
    const payment = addPayment(model, order, 'purchase')
    const { outcome } = await real.world.pay(order, { id: payment.id })
    if (order.paid) {
      // Money without a delivery has an outcome that an operator sees.
      if (!waitsForPayment(order)) return expect(outcome).toBe(outcomeOfAnother(order))
      // The right payment follows one that fell short.
      order.purchase = payment
      if (!(await startServing(model, real, order))) return expect(outcome).toBe('too_late')
      accept(model, payment)
      return expect(outcome).toBe('settled')
    }
    Object.assign(order, { paid: true, purchase: payment })
    accept(model, payment)
    expect(outcome).toBe((await startServing(model, real, order)) ? 'settled' : 'too_late')
  })

/** Pays for other lines than were ordered. */
export const payShort = (nth: number): Step =>
  onOrder('payShort', nth, async (order, model, { world }) => {
    const payment = addPayment(model, order, 'purchase')
    const { outcome } = await world.pay(order, { id: payment.id, lines: {} })
    if (order.paid) return expect(outcome).toBe(waitsForPayment(order) ? 'lines_missing' : outcomeOfAnother(order))
    Object.assign(order, { paid: true, purchase: payment, state: 'failed' })
    expect(outcome).toBe('lines_missing')
  })

/** Renews in time, in the grace, too late, or before the delivery. */
export const renew = (nth: number): Step =>
  onOrder('renew', nth, async (order, model, real) => {
    // What is paid for an unpaid order is its purchase.
    if (!order.paid) return
    const payment = addPayment(model, order, 'renewal')
    const { outcome } = await real.world.pay(order, { id: payment.id, renewal: true })
    const renewableBefore = order.graceUntil ?? order.promisedUntil ?? 0
    const inGrace = order.state === 'expired' && renewableBefore > model.now
    const runs = order.state === 'delivering' || order.state === 'partly_delivered' || order.state === 'delivered'
    // Addresses lost with a server must be found elsewhere, or among those that the order was to give back.
    const found = lost(order) - keepable(order) <= freeFor(model, order.rule)
    const left = unserved(order)
    const until = order.expiredAt === null ? null : (left > 0 ? model.now + left : order.expiredAt) + TERM
    const isOver = until !== null && until <= model.now
    if (isOver || (!runs && !(inGrace && found))) return expect(outcome).toBe('too_late')
    expect(outcome).toBe('settled')
    accept(model, payment)
    if (until === null) order.extraTerms += 1
    else order.expiredAt = until
    if (!inGrace) return
    Object.assign(order, { graceUntil: null, endedAt: model.now, state: 'delivering' })
    order.waiting.clear()
    await takePlacement(model, real, [order])
  })

/** An administrator delivers a failed order, and its payment counts from then on. */
export const deliver = (nth: number): Step =>
  onOrder('deliver', nth, async (order, model, real) => {
    if (order.state !== 'failed' || !order.purchase) return
    const asked = await real.admin.post<{ task_id: string }>(`/api/orders/order_list/${order.id}/devery_order/`)
    expect(asked.code).toBe(2000)
    await runTask(real.world.shop.ctx, deliveryPorts, { orderId: order.id, taskId: asked.data.task_id })
    if (await startServing(model, real, order)) accept(model, order.purchase)
  })

/** A server's agent does what is wanted of it, unless it is silent. */
export const confirm = (nth: number): Step =>
  step(`confirm(${nth})`, (model, real) => confirmServer(nth % model.servers.length, model, real))

export async function confirmServer(at: number, model: Model, real: Real): Promise<void> {
  const server = model.servers[at]
  if (!server || server.silentSince !== null || server.status === 'given_up') return
  await real.world.confirm([server.id])
  const touched = model.orders.filter(({ pending, stopping }) => pending.has(server.id) || stopping.has(server.id))
  const moving = touched.filter(order => order.shares.some(({ replaced }) => replaced))
  for (const order of touched) {
    if (order.pending.delete(server.id)) {
      order.live.add(server.id)
      order.waiting.delete(server.id)
    }
    const wasDelivered = order.expiredAt !== null
    order.stopping.delete(server.id)
    advance(order)
    if (order.state === 'delivered' && !wasDelivered) order.expiredAt = model.now + TERM * (1 + order.extraTerms)
    if (order.state === 'expired' || order.state === 'refunded') endOf(order)
  }
  // Once the new addresses work, the old ones are taken off their agents and go back.
  await takePlacement(model, real, moving)
}

function endOf(order: ModelOrder): void {
  if (order.graceUntil === null && order.stopping.size === 0) order.shares = []
}
