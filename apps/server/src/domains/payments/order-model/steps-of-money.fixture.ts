import { expect } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import { CancelledOrder, DisputeEvent, RefundEvent } from '../../../integrations/shopify/index.ts'
import { userActor } from '../../../testing/session.ts'
import { exchangeCoins } from '../../rewards/exchange.ts'
import { createGiftCard } from '../../rewards/index.ts'
import { cancelPayment, disputePayment, recordRefundReport } from '../index.ts'
import { refundOnPlatform } from '../ask-refund.ts'
import { planRefund } from '../refund-plan.ts'
import { amountOf, earn, halfOf, mature, takeBack, takeBackPart } from './books.fixture.ts'
import {
  centsOf,
  GRACE,
  isServed,
  letGo,
  TERM,
  unserved,
  type Model,
  type ModelPayment,
  type Real,
  type Step
} from './model.fixture.ts'
import { takePlacement } from './placement.fixture.ts'
import { onPayment, step } from './step.fixture.ts'
import { nextPlatformId } from './steps-of-orders.fixture.ts'

/** What follows from a refund that the platform reports. @param amount null: all of it */
async function givenBack(
  { payment, model, real }: { payment: ModelPayment; model: Model; real: Real },
  amount: string | null,
  outcome: string
): Promise<void> {
  // A cancellation says that all is refunded, and names no refund.
  const isMore = amount !== null && toldBackOf(payment) > payment.charged + 2 * (payment.refunds.length + 1)
  if (payment.refunded) return expect(outcome).toBe(isMore ? 'refunded_twice' : 'ignored')
  payment.back = amount === null ? payment.charged : Math.min(payment.charged, payment.back + centsOf(amount))
  if (payment.back < payment.charged) {
    takeBackPart(model.books, payment)
    // A partial refund ends no lease. If the payment counts, an administrator decides.
    return expect(outcome).toBe(payment.accepted ? 'partly_refunded' : 'refunded')
  }
  payment.refunded = true
  const { order } = payment
  takeBack(
    model.books,
    payment,
    model.payments.find(one => one.accepted && !one.refunded)
  )
  if (order.purchase === payment && order.state === 'failed' && !payment.accepted) {
    // The order waits for another payment and keeps its reservation.
    expect(outcome).toBe(isMore ? 'refunded_twice' : 'refunded')
    return void Object.assign(order, { state: 'placed', paid: false, purchase: null })
  }
  if (order.purchase === payment && order.state !== 'refunded') {
    const renewals = model.payments.some(
      one => one.order === order && one.kind === 'renewal' && one.accepted && !one.refunded
    )
    expect(outcome).toBe(renewals ? 'renewals_unserved' : isMore ? 'refunded_twice' : 'refunded')
    Object.assign(order, { state: 'refunded', graceUntil: null, endedAt: order.endedAt ?? model.now })
    await takePlacement(model, real, [order])
    return letGo(order)
  }
  expect(outcome).toBe(isMore ? 'refunded_twice' : 'refunded')
  if (payment.kind !== 'renewal' || !payment.accepted) return
  payment.termTaken = order.expiredAt === null || isServed(order) || unserved(order) > 0
  if (order.expiredAt !== null && order.graceUntil !== null)
    order.graceUntil = Math.min(order.graceUntil, order.expiredAt - TERM + GRACE)
  if (!payment.termTaken) return
  if (order.expiredAt === null) order.extraTerms -= 1
  else if (isServed(order)) {
    order.expiredAt -= TERM
    if (order.expiredAt > model.now) return
    const grace = order.expiredAt + GRACE
    const graceUntil = grace > model.now ? grace : null
    // An order that was renewed in its grace and not delivered since had already ended.
    Object.assign(order, {
      state: 'expired',
      endedAt: order.endedAt ?? model.now,
      graceUntil,
      promisedUntil: graceUntil
    })
    await takePlacement(model, real, [order])
    if (order.graceUntil === null) letGo(order)
  } else order.expiredAt -= TERM
}

async function reportRefund({ world }: Real, payment: ModelPayment, { id, amount }: { id: number; amount: string }) {
  const event = { id, order_id: payment.id, transactions: [{ kind: 'refund', status: 'success', amount }] }
  const { ctx } = world.shop
  return (await command(ctx, SYSTEM, unit => recordRefundReport(unit, RefundEvent.parse(event), ctx))).outcome
}

/** The platform refunds all or half of a payment, before or after the delivery. */
export const refund = (nth: number, part: 'whole' | 'half'): Step =>
  onPayment(`refund ${part}`, nth, async (payment, model, real) => {
    const one = { id: nextPlatformId(), amount: part === 'half' ? halfOf(payment) : amountOf(payment.charged) }
    payment.refunds.push(one)
    await givenBack({ payment, model, real }, one.amount, await reportRefund(real, payment, one))
  })

/** The platform reports a refund again. */
export const refundAgain = (nth: number): Step =>
  onPayment('refundAgain', nth, async (payment, _model, real) => {
    const [first] = payment.refunds
    if (first) expect(await reportRefund(real, payment, first)).toBe('ignored')
  })

/** An administrator requests a refund of the rest or half, and the platform reports it. */
export const refundInConsole = (nth: number, part: 'rest' | 'half'): Step =>
  onPayment(`refundInConsole ${part}`, nth, async (payment, model, real) => {
    const { admin, world } = real
    const amount = part === 'half' ? halfOf(payment) : amountOf(payment.charged - payment.back)
    const by = userActor(admin.user.id, { username: admin.user.username, isSuperuser: true })
    const { ctx } = world.shop
    const wanted = part === 'half' ? { amount } : {}
    const meant = { orderId: payment.order.id, named: String(payment.id) }
    const plan = await planRefund({ tx: ctx.db, now: ctx.now(), secrets: ctx.secrets }, meant, wanted)
    const version = plan.ok ? plan.data.version : 'none'
    const asked = await refundOnPlatform(ctx, by, meant, { ...wanted, version })
    if (payment.refunded) return expect(asked).toMatchObject({ ok: false, reason: 'order_without_payment' })
    expect(asked).toMatchObject({ ok: true, data: { amount } })
    const made = world.refundsMade.pop()
    expect(made).toMatchObject({ platformOrderId: String(payment.id), amount })
    // The platform's report has the id of its answer.
    const one = { id: made?.id ?? 0, amount }
    payment.refunds.push(one)
    await givenBack({ payment, model, real }, amount, await reportRefund(real, payment, one))
  })

/** The platform cancels a paid order, and refunds all of its money or none. */
export const cancelOnPlatform = (nth: number, status: 'refunded' | 'paid'): Step =>
  onPayment(`cancelOnPlatform ${status}`, nth, async (payment, model, real) => {
    const { ctx } = real.world.shop
    const event = CancelledOrder.parse({ id: payment.id, name: `#${payment.id}`, financial_status: status })
    const { outcome } = await command(ctx, SYSTEM, unit => cancelPayment(unit, event, ctx))
    if (status === 'refunded') {
      payment.cancelled = true
      return givenBack({ payment, model, real }, null, outcome)
    }
    if (payment.refunded) return expect(outcome).toBe('ignored')
    const hasLease = payment.accepted && payment.order.state !== 'failed'
    expect(outcome).toBe(hasLease ? 'cancelled_delivered' : 'cancelled')
  })

const reportDispute = async (
  { world }: Real,
  payment: ModelPayment,
  dispute: { id: number; status: string; type?: string }
) => {
  const { ctx } = world.shop
  const event = { type: 'chargeback', amount: amountOf(payment.charged), currency: 'USD', ...dispute }
  const parsed = DisputeEvent.parse({ ...event, order_id: payment.id })
  return (await command(ctx, SYSTEM, unit => disputePayment(unit, parsed, ctx))).outcome
}

/** The buyer's bank takes the money. */
export const openChargeback = (nth: number): Step =>
  onPayment('openChargeback', nth, async (payment, model, real) => {
    const isNew = payment.dispute === null
    payment.dispute ??= nextPlatformId()
    const outcome = await reportDispute(real, payment, { id: payment.dispute, status: 'needs_response' })
    if (!isNew) return expect(outcome).toBe('ignored')
    await givenBack({ payment, model, real }, amountOf(payment.charged), outcome)
  })

/** The bank keeps the money, which is taken once. */
export const loseChargeback = (nth: number): Step =>
  onPayment('loseChargeback', nth, async (payment, model, real) => {
    const isNew = payment.dispute === null
    payment.dispute ??= nextPlatformId()
    const outcome = await reportDispute(real, payment, { id: payment.dispute, status: 'lost' })
    if (!isNew) return expect(outcome).toBe('ignored')
    await givenBack({ payment, model, real }, amountOf(payment.charged), outcome)
  })

/** The refunds of a payment and its dispute, in cents: more than it brought if it was refunded and charged back. */
function toldBackOf({ charged, refunds, dispute, disputeWon }: ModelPayment): number {
  const taken = dispute !== null && !disputeWon ? charged : 0
  return refunds.reduce((sum, { amount }) => sum + centsOf(amount), taken)
}

/** What the platform has refunded of a payment, in cents. */
const backOf = (payment: ModelPayment): number =>
  Math.min(payment.charged, toldBackOf(payment) + (payment.cancelled ? payment.charged : 0))

/** The shop wins a dispute that had taken the money. The books are as before, and an ended lease can be reopened. */
export const winChargeback = (nth: number): Step =>
  onPayment('winChargeback', nth, async (payment, model, real) => {
    if (payment.dispute === null) return
    const outcome = await reportDispute(real, payment, { id: payment.dispute, status: 'won' })
    if (payment.disputeWon) return expect(outcome).toBe('ignored')
    payment.disputeWon = true
    const back = backOf(payment)
    // Other refunds cover the whole payment.
    if (back === payment.charged) return expect(outcome).toBe('ignored')
    Object.assign(payment, { back, refunded: false })
    const { order, accepted } = payment
    const unserved = accepted && payment.kind === 'renewal' && order.state === 'refunded'
    const kept = unserved ? 'renewals_unserved' : 'dispute_won'
    expect(outcome).toBe(accepted && isServed(order) ? 'settled' : kept)
    if (accepted) earn(model.books, payment, model.now)
    if (payment === order.purchase && order.state === 'refunded') {
      order.state = accepted ? 'expired' : 'failed'
      return
    }
    if (payment.kind !== 'renewal' || !accepted || !payment.termTaken) return
    payment.termTaken = false
    if (order.expiredAt === null) order.extraTerms += 1
    else order.expiredAt += TERM
  })

/** The shop wins a dispute before its opening is reported, which then takes nothing. */
export const winUnopened = (nth: number): Step =>
  onPayment('winUnopened', nth, async (payment, _model, real) => {
    const id = nextPlatformId()
    expect(await reportDispute(real, payment, { id, status: 'won' })).toBe('ignored')
    expect(await reportDispute(real, payment, { id, status: 'needs_response' })).toBe('ignored')
  })

/** The bank inquires and takes nothing. */
export const inquire = (nth: number): Step =>
  onPayment('inquire', nth, async (payment, _model, real) => {
    const dispute = { id: nextPlatformId(), status: 'needs_response', type: 'inquiry' }
    expect(await reportDispute(real, payment, dispute)).toBe('inquiry')
  })

let cards = 0

/** The inviter exchanges coins. Pending or owed coins can never be spent. */
export const spend = (what: 'one' | 'all' | 'oneTooMany' | 'pendingToo'): Step =>
  step(`spend ${what}`, async (model, { world, inviter }) => {
    mature(model.books, model.now)
    const { spendable } = model.books.inviter
    const pending = model.books.pending.reduce((sum, { coins }) => sum + coins, 0)
    const point = { one: 1, all: spendable, oneTooMany: spendable + 1, pendingToo: spendable + pending }[what]
    if (point === 0) return
    cards += 1
    const { ctx } = world.shop
    const mount = `${1000 + cards}.00`
    expect(await createGiftCard(ctx, SYSTEM, { mount, code: `model-card-${cards}`, point })).toMatchObject({ ok: true })
    const asked = await exchangeCoins(ctx, userActor(inviter.user.id), { mount, point }, null)
    if (point > spendable) return expect(asked).toMatchObject({ ok: false, reason: 'insufficient_coins' })
    expect(asked).toMatchObject({ ok: true })
    model.books.inviter.spendable -= point
  })
