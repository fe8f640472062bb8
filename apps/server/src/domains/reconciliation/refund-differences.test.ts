import { describe, expect, test } from 'vitest'
import type { ShopifyOrder } from '../../integrations/shopify/index.ts'
import { differences } from './refund-differences.ts'
import { counted, keyAfter, rowsOf, totalOf, type RefundRow } from '../payments/refund-rows.ts'
import type { PaymentRow } from '../payments/rows.ts'

const now = new Date('2026-11-20T12:00:00.000Z')
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)

const row = (key: string, amount: string | null, more: Partial<RefundRow> = {}): RefundRow => ({
  id: 1,
  key,
  platformOrderId: '1',
  amount,
  state: 'counted',
  askedBy: null,
  askedPart: false,
  input: null,
  sentAt: null,
  foreignAmount: null,
  awaitsRead: false,
  readAt: null,
  lost: false,
  reversedAt: null,
  createdAt: ago(60),
  ...more
})
type Says = Omit<Partial<ShopifyOrder>, 'refunds'> & { refunds?: { id: string; amount: string }[] }
const order = ({ refunds = [], ...more }: Says = {}) =>
  ({
    id: '1',
    name: '#1001',
    updatedAt: 'T',
    refunds: refunds.map(one => ({ ...one, buyer: null })),
    financialStatus: 'PARTIALLY_REFUNDED',
    cancelledAt: null,
    ...more
  }) as ShopifyOrder
const found = (
  says: Says,
  rows: readonly RefundRow[],
  payment: Partial<PaymentRow> = {}
): ReturnType<typeof differences> =>
  differences(order(says), { payment: { charged: '10.00', refundedAt: null, ...payment } as PaymentRow, rows, now })

test('rows of one refund are those of its key and its changes', () => {
  const rows = ['refund:1', 'refund:1:2', 'refund:11', 'refund:11:2', 'reported:1'].map(key => ({ key }))
  expect(rowsOf(rows, 'refund:1').map(({ key }) => key)).toEqual(['refund:1', 'refund:1:2'])
  expect(keyAfter([], 'refund:1')).toBe('refund:1')
  expect(keyAfter(rows.slice(0, 1), 'refund:1')).toBe('refund:1:2')
  expect(keyAfter(rows.slice(0, 2), 'refund:1')).toBe('refund:1:3')
})

test('what counts is what did not come back, more than was charged too', () => {
  const rows = [
    row('a', '4.00'),
    row('b', '7.00'),
    row('c', '9.00', { state: 'returned' }),
    row('d', '1.00', { state: 'asked' })
  ]
  expect(totalOf(counted(rows), '10.00')).toBe(1100n)
  expect(totalOf([], '10.00')).toBe(0n)
  expect(totalOf([row('a', null)], '10.00')).toBe(1000n)
})

describe('a refund', () => {
  const listed = (...amounts: string[]) => ({ refunds: amounts.map((amount, at) => ({ id: String(at + 1), amount })) })

  test('that the platform counts alike is no difference', () => {
    expect(found(listed('4.00'), [row('refund:1', '4.00')])).toEqual([])
    expect(found(listed('4.009'), [row('refund:1', '4.00')])).toEqual([])
    expect(found(listed('6.00'), [row('refund:1', '4.00'), row('refund:1:2', '2.00')])).toEqual([])
    expect(found({}, [])).toEqual([])
  })

  test('that became more is told at once', () => {
    expect(found(listed('6.00'), [row('refund:1', '4.00', { createdAt: now })])).toEqual([
      {
        eventId: 'refund:1:4.00:6.00:T',
        topic: 'reconciled/refund',
        payload: {
          order_id: '1',
          name: '#1001',
          key: 'refund:1',
          known: '4.00',
          amount: '6.00',
          status: 'PARTIALLY_REFUNDED'
        }
      }
    ])
  })

  test('that became less is told once none of its rows is news', () => {
    const less = (...created: Date[]) =>
      found(
        listed('1.00'),
        created.map((createdAt, at) => row(at === 0 ? 'refund:1' : `refund:1:${at + 1}`, '2.00', { createdAt }))
      ).map(({ payload }) => 'amount' in payload && payload.amount)
    expect(less(ago(9))).toEqual([])
    expect(less(ago(10))).toEqual(['1.00'])
    expect(less(ago(60), ago(10))).toEqual(['1.00'])
    expect(less(ago(60), ago(9))).toEqual([])
  })

  test('that is not listed was not made if the platform calls its order paid and lists all refunds', () => {
    const rows = [row('refund:9', '4.00')]
    expect(found({ financialStatus: 'PAID' }, rows)).toMatchObject([{ payload: { key: 'refund:9', amount: '0.00' } }])
    expect(found({}, rows)).toEqual([])
    const others = (many: number) => listed(...Array.from({ length: many }, () => '0.00'))
    const far = [row('refund:99', '4.00')]
    expect(found({ financialStatus: 'PAID', ...others(19) }, far)).toHaveLength(1)
    expect(found({ financialStatus: 'PAID', ...others(20) }, far)).toMatchObject([{ topic: 'reconciled/doubt' }])
  })

  test.each(['asked:1', 'operator:1', 'dispute:1', 'refund:1:2', 'xrefund:1'])('is none of the platform: %s', key =>
    expect(found({ financialStatus: 'PAID' }, [row(key, '4.00')])).toEqual([])
  )
})

describe('an order that the platform calls refunded', () => {
  test('is so, even if its refunds add up to less', () => {
    expect(found({ financialStatus: 'REFUNDED' }, [])).toEqual([
      {
        eventId: 'reported:1:0.00:all:T',
        topic: 'reconciled/refund',
        payload: { order_id: '1', name: '#1001', key: 'reported:1', known: '0.00', amount: null, status: 'REFUNDED' }
      }
    ])
    const part = [row('reported:1', '4.00'), row('reported:12', '5.00')]
    expect(found({ financialStatus: 'REFUNDED' }, part)).toMatchObject([{ payload: { known: '4.00' } }])
  })

  test('says nothing new if it is so here, or brought nothing', () => {
    expect(found({ financialStatus: 'REFUNDED' }, [], { refundedAt: now })).toEqual([])
    expect(found({ financialStatus: 'REFUNDED' }, [], { charged: '0.00' })).toEqual([])
  })

  test('takes that back by another status', () => {
    const rows = [row('reported:1', null)]
    expect(found({}, rows)).toMatchObject([{ payload: { key: 'reported:1', known: '10.00', amount: '0.00' } }])
    expect(found({ financialStatus: 'REFUNDED' }, rows, { refundedAt: now })).toEqual([])
  })
})

describe('a doubt', () => {
  const refund = (amount: string | null, more: Partial<RefundRow> = {}) => [row('refund:1', amount, more)]
  const listed = (amount: string, status: string | null) => ({
    refunds: [{ id: '1', amount }],
    financialStatus: status
  })

  test('is a refund of an order that is called paid', () => {
    expect(found(listed('4.00', 'PAID'), refund('4.00'))).toEqual([
      {
        eventId: 'doubt:1:PAID:4.00',
        topic: 'reconciled/doubt',
        payload: { order_id: '1', name: '#1001', amount: '4.00', status: 'PAID' }
      }
    ])
    expect(found(listed('0.00', 'PAID'), refund('0.00'))).toEqual([])
  })

  test('is all of the money of an order that is called refunded in part', () => {
    const status = 'PARTIALLY_REFUNDED'
    expect(found(listed('9.99', status), refund('9.99'))).toEqual([])
    expect(found(listed('10.00', status), refund('10.00'))).toMatchObject([{ payload: { amount: '10.00', status } }])
  })

  test('waits for a status, and for rows that are no news; what came back is none', () => {
    expect(found(listed('10.00', null), refund('10.00'))).toEqual([])
    const grown = [...refund('4.00'), row('refund:1:2', '2.00', { createdAt: ago(9) })]
    expect(found(listed('6.00', 'PAID'), grown)).toEqual([])
    expect(found(listed('4.00', 'PAID'), refund('4.00', { createdAt: ago(9) }))).toEqual([])
    expect(found(listed('0.00', 'PAID'), refund('4.00', { state: 'returned' }))).toEqual([])
  })
})
