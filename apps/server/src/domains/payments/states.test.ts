import { expect, test } from 'vitest'
import { drawnTransitions, transitionsOf } from '../../testing/diagram.ts'
import { PAYMENT_TRANSITIONS, paymentAllows, paymentStateOf } from './states.ts'

test('docs/ORDERS.md draws the table of payments and nothing else', async () => {
  const expected = ['[*]  held', '[*]  accepted', ...transitionsOf(PAYMENT_TRANSITIONS)]
  expect(await drawnTransitions('Payments')).toEqual(expected.toSorted())
})

test('only a held payment can be accepted', () => {
  const payments = [{ accepted: false }, { accepted: true }]
  expect(payments.map(paymentStateOf)).toEqual(['held', 'accepted'])
  expect(payments.map(payment => paymentAllows(payment, 'accept'))).toEqual([true, false])
})
