import { expect, test } from 'vitest'
import { wholeCents } from './whole-cents.ts'

test.each([
  ['5', '5.00'],
  ['5.0', '5.00'],
  ['5.10', '5.10'],
  ['5.1000', '5.10'],
  ['5.00', '5.00'],
  ['100', '100.00'],
  ['0.0100', '0.01']
])('the price %s is %s', (text, price) => expect(wholeCents(text)).toBe(price))

test.each(['5.001', '5.1001', '5.100x'])('no price: %s', text => {
  expect(() => wholeCents(text)).toThrow(`not an amount: ${text}`)
})
