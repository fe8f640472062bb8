import { expect, test } from 'vitest'
import { drawnTransitions, transitionsOf } from '../../testing/diagram.ts'
import { PAYMENT_TRANSITIONS, paymentAllows, paymentStateOf, REFUND_TRANSITIONS } from './states.ts'

test('docs/ORDERS.md draws the table of payments and nothing else', async () => {
  const begins = ['[*]  held', '[*]  accepted', '[*]  refunded']
  const expected = [...begins, ...transitionsOf(PAYMENT_TRANSITIONS)]
  expect(await drawnTransitions('Payments')).toEqual(expected.toSorted())
})

test('a payment is accepted while it is held or ignored, and refunded once', () => {
  const at = new Date('2026-05-15T12:00:00Z')
  const payments = [
    { accepted: false, refundedAt: null, ignoredAt: null },
    { accepted: true, refundedAt: null, ignoredAt: null },
    { accepted: false, refundedAt: null, ignoredAt: at },
    { accepted: true, refundedAt: at, ignoredAt: null },
    { accepted: false, refundedAt: at, ignoredAt: at }
  ]
  expect(payments.map(paymentStateOf)).toEqual(['held', 'accepted', 'ignored', 'refunded', 'refunded'])
  const allowed = (event: Parameters<typeof paymentAllows>[1]) => payments.map(one => paymentAllows(one, event))
  expect(allowed('accept')).toEqual([true, false, true, false, false])
  expect(allowed('ignore')).toEqual([true, false, false, false, false])
  expect(allowed('refund')).toEqual([true, true, true, false, false])
  expect(allowed('restore')).toEqual([false, false, false, true, true])
})

test('docs/ORDERS.md draws the table of refunds and nothing else', async () => {
  const begins = ['[*]  answered', '[*]  asked', '[*]  counted', '[*]  returned']
  expect(await drawnTransitions('Refunds')).toEqual([...begins, ...transitionsOf(REFUND_TRANSITIONS)].toSorted())
})
