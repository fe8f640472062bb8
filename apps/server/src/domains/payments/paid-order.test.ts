import { describe, expect, test } from 'vitest'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import {
  compareLines,
  downToCents,
  isRefundedOrVoided,
  isUnpaid,
  missing,
  moneyOf,
  moneyProblem
} from './paid-order.ts'
import { sumRefunds } from './refund-rows.ts'

const rules = { shop_currency: 'USD', accept_test_payments: false }
const order = (more: Partial<PaidOrder> = {}): PaidOrder => ({
  id: '1',
  order_number: 1001,
  name: '#1001',
  currency: 'USD',
  total_price: '12.345',
  subtotal_price: '12.345',
  total_discounts: '0',
  discount_codes: [],
  note_attributes: [],
  line_items: [],
  ...more
})
type Line = PaidOrder['line_items'][number]
const line = (more: Partial<Line> = {}): Line => ({ id: '1', title: 'Plan', quantity: 1, price: '5.00', ...more })

describe('the money of a payment', () => {
  test('counts in the currency of the shop', () => {
    expect(moneyOf(order(), rules)).toBe('12.34')
    expect(moneyProblem(order(), rules)).toBe(null)
    expect(moneyOf(order({ currency: 'EUR' }), rules)).toBe('0.00')
    expect(moneyProblem(order({ currency: 'EUR' }), rules)).toEqual({
      code: 'wrong_currency',
      params: { currency: 'EUR', expected: 'USD' }
    })
  })

  test('does not count if it is a test, unless the shop takes tests', () => {
    const tested = order({ test: true })
    expect(moneyOf(tested, rules)).toBe('0.00')
    expect(moneyProblem(tested, rules)).toEqual({ code: 'test_payment' })
    expect(moneyOf(tested, { ...rules, accept_test_payments: true })).toBe('12.34')
    expect(moneyOf(order({ test: false }), rules)).toBe('12.34')
  })

  test.each([
    ['12.3456', '12.34'],
    ['12.999', '12.99'],
    ['12.3', '12.30'],
    ['12', '12.00'],
    ['12.', '12.00'],
    ['0.009', '0.00']
  ])('%s is %s', (text, cents) => expect(downToCents(text)).toBe(cents))
})

describe('the lines of a payment', () => {
  const needed = [
    { variant: '7', name: 'Plan', quantity: 16 },
    { variant: '8', name: 'New York', quantity: 16 }
  ]
  const paidOf = (lines: Partial<Line>[], of = needed) =>
    compareLines(of, { line_items: lines.map(line) }).map(({ paid }) => paid)

  test('bring what they name, up to what is needed', () => {
    expect(
      compareLines(needed, { line_items: [line({ variant_id: '7', quantity: 20 }), line({ variant_id: '8' })] })
    ).toEqual([
      { name: 'Plan', quantity: 16, paid: 16 },
      { name: 'New York', quantity: 16, paid: 1 }
    ])
    expect(paidOf([])).toEqual([0, 0])
    expect(paidOf([{ quantity: 16 }, { variant_id: '9', quantity: 16 }])).toEqual([0, 0])
  })

  test('of one variant add up, and are spent once', () => {
    expect(
      paidOf([
        { variant_id: '7', quantity: 9 },
        { variant_id: '7', quantity: 8 }
      ])
    ).toEqual([16, 0])
    const twice = [0, 1].map(() => ({ variant: '7', name: 'Plan', quantity: 10 }))
    expect(paidOf([{ variant_id: '7', quantity: 16 }], twice)).toEqual([10, 6])
    expect(paidOf([{ variant_id: '7', quantity: 6 }], twice)).toEqual([6, 0])
  })

  test('count as they are since the order was edited', () => {
    expect(paidOf([{ variant_id: '7', quantity: 16, current_quantity: 4 }])).toEqual([4, 0])
    expect(paidOf([{ variant_id: '7', quantity: 16, current_quantity: null }])).toEqual([16, 0])
    expect(
      paidOf([
        { variant_id: '7', quantity: 16, current_quantity: -4 },
        { variant_id: '7', quantity: 5 }
      ])
    ).toEqual([5, 0])
  })

  test('are named if they fall short', () => {
    const lines = [
      { name: 'Plan', quantity: 16, paid: 16 },
      { name: 'New York', quantity: 16, paid: 8 },
      { name: 'Boston', quantity: 4, paid: 0 }
    ]
    expect(missing(lines, { quantity: 16 })).toBe('New York: 8/16, Boston: 0/4')
    expect(missing(lines.slice(0, 1), { quantity: 16 })).toBe(null)
    expect(missing([], { quantity: 16 })).toBe('0/16')
  })
})

test.each<[Partial<PaidOrder>, { back: boolean; unpaid: boolean }]>([
  [{}, { back: false, unpaid: false }],
  [
    { financial_status: 'paid', cancelled_at: null },
    { back: false, unpaid: false }
  ],
  [
    { financial_status: 'paid', cancelled_at: '2026-11-20T12:00:00Z' },
    { back: false, unpaid: false }
  ],
  [{ financial_status: 'refunded' }, { back: true, unpaid: false }],
  [{ financial_status: 'voided' }, { back: true, unpaid: false }],
  [{ financial_status: 'partially_refunded' }, { back: false, unpaid: false }],
  [{ financial_status: 'pending' }, { back: false, unpaid: true }],
  [{ financial_status: 'authorized' }, { back: false, unpaid: true }],
  [{ financial_status: 'partially_paid' }, { back: false, unpaid: true }],
  [{ financial_status: 'expired' }, { back: false, unpaid: true }]
])('an order that says %j', (says, { back, unpaid }) => {
  expect([isRefundedOrVoided(order(says)), isUnpaid(order(says))]).toEqual([back, unpaid])
})

test.each<[(string | null)[], string, { sum: bigint; all: boolean }]>([
  [[], '10.00', { sum: 0n, all: false }],
  [['2.50', '3.00'], '10.00', { sum: 550n, all: false }],
  [['9.99'], '10.00', { sum: 999n, all: false }],
  [['4.00', '6.00'], '10.00', { sum: 1000n, all: true }],
  [['4.00', '7.00'], '10.00', { sum: 1000n, all: true }],
  [[null], '10.00', { sum: 1000n, all: true }],
  [[null, '4.00'], '10.00', { sum: 1000n, all: true }],
  [[null], '0.00', { sum: 0n, all: true }],
  [['0.00'], '0.00', { sum: 0n, all: false }],
  [[], '0.00', { sum: 0n, all: false }]
])('refunds of %j out of %s', (amounts, charged, sum) => {
  expect(
    sumRefunds(
      amounts.map(amount => ({ amount })),
      charged
    )
  ).toEqual(sum)
})
