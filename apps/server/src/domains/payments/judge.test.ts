import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import { addDays } from '../orders/renew.ts'
import type { OrderRow } from '../orders/index.ts'
import { judge, judgeApplication, type Delivery, type Facts, type OrderFacts, type Renewal } from './judge.ts'
import { judgeRefund, judgeReturn } from './judge-refund.ts'
import { counted, sumRefunds, type RefundRow } from './refund-rows.ts'
import { refundedPartOf, type PaymentRow } from './rows.ts'
import { paymentStateOf } from './states.ts'
import { runs } from '../../../../../scripts/testing/tier.ts'

const START = new Date('2026-05-01T00:00:00Z')
const DAYS = 30
const LINES = [{ variant: '11', name: 'Plan', quantity: 8 }]
/** Two payments name the order as its purchase, and two as a renewal. */
const KINDS = ['purchase', 'purchase', 'renewal', 'renewal'] as const

const AS = ['right', 'right', 'right', 'short', 'euro', 'test', 'pending', 'refunded', 'cancelled'] as const
type As = (typeof AS)[number]
const nth = fc.nat({ max: KINDS.length - 1 })
/** `inStock`: whether there are addresses after the reservation has ended. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('tell'), nth, as: fc.constantFrom(...AS), inStock: fc.boolean() })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund'), nth, cents: fc.constantFrom(500, 1500, 2000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('return'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('apply'), nth, inStock: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('ignore'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('time out', 'expire', 'end grace') }) }
) as fc.Arbitrary<Step>
type Step = {
  do: 'tell' | 'refund' | 'return' | 'apply' | 'ignore' | 'time out' | 'expire' | 'end grace'
  nth: number
  as: As
  inStock: boolean
  cents: number
}

/** One order and its payments. Writes decisions as `applyDecision` and `applyRefund` do. */
class World {
  now = START
  order = {
    id: 1,
    publicId: 'NL-1',
    state: 'placed',
    paidAt: null,
    platformOrderId: null,
    reservedUntil: addDays(START, 1),
    quantity: 8,
    lines: LINES,
    proxyTime: DAYS,
    extraDays: 0,
    deliveryNum: 0,
    deliveredAt: null,
    expiredAt: null,
    endedAt: null,
    graceUntil: null
  } as unknown as OrderRow
  payments = new Map<string, PaymentRow>()
  refunds: RefundRow[] = []
  /** Payments that the platform reported correctly, or that an administrator applied. */
  rightful = new Set<string>()

  rowsOf = (id: string) => this.refunds.filter(row => row.platformOrderId === id)

  about(): OrderFacts {
    const { platformOrderId } = this.order
    const first = (platformOrderId && this.payments.get(platformOrderId)) || null
    return {
      order: this.order,
      first,
      paidAt: this.now,
      receiptDate: this.now,
      renewableBefore: this.order.graceUntil,
      terms: { lines: LINES, days: DAYS, withdrawn: null }
    }
  }

  tell({ nth, as, inStock }: Step): void {
    const paid = reportOf(nth, as)
    if (as === 'right') this.rightful.add(paid.id)
    const payment = this.payments.get(paid.id) ?? null
    const facts: Facts = {
      now: this.now,
      money: { shop_currency: 'USD', accept_test_payments: false },
      paid,
      kind: KINDS[nth] ?? 'purchase',
      named: 'NL-1',
      payment,
      refunds: this.rowsOf(paid.id),
      isCancelled: Boolean(paid.cancelled_at),
      about: this.about(),
      isOurs: false
    }
    const decision = judge(facts)
    expect(judge(structuredClone(facts))).toEqual(decision)
    if (payment && paymentStateOf(payment) !== 'held') expect(decision).toMatchObject({ do: 'nothing' })
    if (decision.do === 'nothing') return
    if (decision.do === 'refund' && paid.financial_status === 'refunded') this.addRefund(paid.id, null)
    if (decision.do === 'refund' && payment) return this.follow(paid.id)
    const amount = as === 'euro' || as === 'test' ? '0.00' : '20.00'
    const back = sumRefunds(counted(this.rowsOf(paid.id)), paid.total_price)
    const refunded = { refundedAmount: refundedPartOf(amount, back.sum), refundedAt: back.all ? this.now : null }
    const added = { ...paymentRow(paid.id, nth, amount), currency: paid.currency, ...refunded }
    this.payments.set(paid.id, added)
    if (decision.do === 'deliver' || decision.do === 'renew') this.settle(added, decision, inStock)
    if (decision.do === 'fail') this.change({ paidAt: this.now, platformOrderId: paid.id, state: 'failed' })
  }

  settle(payment: PaymentRow, decision: Delivery | Renewal, inStock: boolean): void {
    const { platformOrderId } = payment
    const { days } = decision
    if (decision.do === 'renew') {
      this.accept(payment, { days, kind: 'renewal' })
      const { state, expiredAt, extraDays } = this.order
      const term = expiredAt ? { expiredAt: addDays(expiredAt, days) } : { extraDays: extraDays + days }
      return this.change(state === 'expired' ? { ...term, state: 'delivered', endedAt: null, graceUntil: null } : term)
    }
    if (decision.as !== 'again') this.change({ paidAt: this.now, platformOrderId })
    const isReserved = this.order.reservedUntil > this.now
    if (decision.as === 'first') this.accept(payment, { days, kind: 'purchase' })
    if (!inStock && !isReserved) return this.change({ state: 'failed' })
    if (decision.as !== 'first') this.accept(payment, { days, kind: 'purchase' })
    const deliveredAt = this.order.deliveredAt ?? this.now
    const expiredAt = addDays(deliveredAt, days + this.order.extraDays)
    return this.change({ state: 'delivered', deliveredAt, expiredAt, deliveryNum: 8, extraDays: 0 })
  }

  accept(payment: PaymentRow, change: Partial<PaymentRow>): void {
    this.payments.set(payment.platformOrderId, { ...payment, ...change, accepted: true, ignoredAt: null })
  }

  addRefund(platformOrderId: string, cents: number | null): void {
    const amount = cents === null ? null : (cents / 100).toFixed(2)
    this.refunds.push({ platformOrderId, amount, state: 'counted', createdAt: START } as RefundRow)
  }

  /** Writes the effects of the refunds that count now. */
  follow(id: string): void {
    const payment = this.payments.get(id)
    if (!payment) return
    const { now, order } = this
    const others = [...this.payments.values()].filter(
      one => one !== payment && one.accepted && !one.refundedAt && one.platformOrderId !== id
    )
    const otherDays = others.reduce((sum, { days }) => sum + (days ?? 0), 0)
    const facts = { now, payment, order, refunds: this.rowsOf(id), otherDays, soldDays: DAYS, graceHours: 0 }
    const decision = judgeRefund(facts)
    if (!decision) return
    const isAll = decision.do !== 'take_part' && decision.do !== 'note_part'
    const { refundedAmount } = decision
    this.payments.set(id, { ...payment, refundedAmount, refundedAt: isAll ? now : null })
    if (decision.do === 'await_payment') this.change({ state: 'placed', paidAt: null, platformOrderId: null })
    if (decision.do === 'end_lease') this.change({ state: 'refunded', endedAt: now, deliveryNum: 0 })
    if (decision.do !== 'take_term' || decision.days === 0) return
    const { expiredAt, extraDays } = this.order
    const taken = expiredAt
      ? { expiredAt: addDays(expiredAt, -decision.days) }
      : { extraDays: extraDays - decision.days }
    this.payments.set(id, { ...payment, refundedAmount, refundedAt: now, termTaken: true, days: decision.days })
    this.change(decision.ends === 'term_and_lease' ? { ...taken, state: 'expired', endedAt: now } : taken)
  }

  applyReturn(id: string, before: bigint): void {
    const payment = this.payments.get(id)
    if (!payment) return
    const { order } = this
    const decision = judgeReturn({ payment, order, refunds: this.rowsOf(id), before })
    if (decision.do === 'nothing') return
    const { refundedAmount } = decision
    this.payments.set(id, { ...payment, refundedAmount, refundedAt: null, termTaken: false })
    if (decision.do === 'restore_order') this.change({ state: payment.accepted ? 'expired' : 'failed' })
    if (decision.do !== 'restore_term' || decision.days === null) return
    const { expiredAt, extraDays } = order
    this.change(expiredAt ? { expiredAt: addDays(expiredAt, decision.days) } : { extraDays: extraDays + decision.days })
  }

  change(changes: Partial<OrderRow>): void {
    this.order = { ...this.order, ...changes }
  }

  take(one: Step): void {
    const id = idOf(one.nth)
    const payment = this.payments.get(id)
    const isTimed = this.order.state === 'delivered'
    if (one.do === 'tell') this.tell(one)
    if (one.do === 'refund') {
      this.addRefund(id, one.cents)
      this.follow(id)
    }
    if (one.do === 'return') {
      const before = payment ? sumRefunds(counted(this.rowsOf(id)), payment.charged).sum : 0n
      this.refunds = this.refunds.filter(row => row.platformOrderId !== id)
      this.applyReturn(id, before)
    }
    if (one.do === 'ignore' && payment && paymentStateOf(payment) === 'held')
      this.payments.set(id, { ...payment, ignoredAt: this.now })
    if (one.do === 'apply' && payment && !payment.refundedAt && !payment.accepted) {
      const decision = judgeApplication(this.about(), payment)
      if (typeof decision === 'string') return
      this.rightful.add(id)
      this.settle(payment, decision, one.inStock)
    }
    if (one.do === 'time out' && this.order.state === 'placed')
      this.change({ state: 'timed_out', reservedUntil: START })
    if (one.do === 'expire' && isTimed)
      this.change({ state: 'expired', endedAt: this.now, graceUntil: addDays(this.now, 1) })
    if (one.do === 'end grace' && this.order.state === 'expired') this.change({ graceUntil: null })
  }
}

const idOf = (nth: number) => String(101 + nth)

function reportOf(nth: number, as: As): PaidOrder {
  const quantity = as === 'short' ? 4 : 8
  const status = as === 'pending' || as === 'refunded' ? as : 'paid'
  return {
    id: idOf(nth),
    order_number: 1,
    name: '#1',
    currency: as === 'euro' ? 'EUR' : 'USD',
    financial_status: status,
    test: as === 'test',
    cancelled_at: as === 'cancelled' ? '2026-05-01' : null,
    total_price: '20.00',
    subtotal_price: '20.00',
    total_discounts: '0.00',
    discount_codes: [],
    note_attributes: [],
    line_items: [{ id: '1', title: 'Plan', variant_id: '11', quantity, price: '2.50' }]
  }
}

const paymentRow = (platformOrderId: string, nth: number, amount: string) =>
  ({
    platformOrderId,
    kind: KINDS[nth],
    amount,
    charged: '20.00',
    currency: 'USD',
    accepted: false,
    refundedAmount: '0.00',
    refundedAt: null,
    ignoredAt: null,
    reportedAt: null,
    termTaken: false,
    days: null
  }) as PaymentRow

/** Invariants after every step. */
function expectSound({ order, payments, refunds }: World): void {
  const all = [...payments.values()]
  for (const payment of all) {
    const rows = refunds.filter(row => row.platformOrderId === payment.platformOrderId)
    const back = sumRefunds(counted(rows), payment.charged)
    expect(payment.refundedAt !== null).toBe(back.all)
    if (payment.amount === '20.00') expect(Number(payment.refundedAmount) * 100).toBe(Number(back.sum))
  }
  const standing = all.filter(({ accepted, refundedAt }) => accepted && !refundedAt)
  const purchases = standing.filter(({ kind }) => kind === 'purchase')
  expect(purchases.length).toBeLessThanOrEqual(1)
  const own = order.platformOrderId ? payments.get(order.platformOrderId) : undefined
  if (order.state === 'delivered') expect(own).toMatchObject({ accepted: true, refundedAt: null })
  if (order.state === 'placed') expect(own).toBeUndefined()
  if (order.state === 'refunded') expect(own?.refundedAt).not.toBe(null)
  // No term is lost or given twice.
  if (order.state === 'delivered' && order.expiredAt && order.deliveredAt)
    expect(order.expiredAt).toEqual(
      addDays(
        order.deliveredAt,
        standing.reduce((sum, { days }) => sum + (days ?? 0), 0)
      )
    )
}

test('after any history at most one purchase counts, no refunded order is served, and each term is given once', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), steps => {
      const world = new World()
      for (const one of steps) {
        world.take(one)
        expectSound(world)
      }
      for (const { platformOrderId, accepted } of world.payments.values())
        if (accepted) expect(world.rightful).toContain(platformOrderId)
    }),
    runs(2000, 50_000)
  )
})
