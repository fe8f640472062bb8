import { expect, test } from 'vitest'
import { afterDiscount, fromCents, toCents } from './money.ts'

test.each([
  ['12', 1200n, '12.00'],
  ['12.3', 1230n, '12.30'],
  ['12.30', 1230n, '12.30'],
  ['0.05', 5n, '0.05'],
  ['0', 0n, '0.00'],
  ['-0.05', -5n, '-0.05'],
  ['-12.3', -1230n, '-12.30'],
  ['-0', 0n, '0.00'],
  // More digits than a float has.
  ['90071992547409.93', 9_007_199_254_740_993n, '90071992547409.93']
])('%s is %i cents', (text, cents, written) => {
  expect(toCents(text)).toBe(cents)
  expect(fromCents(cents)).toBe(written)
})

test.each(['', '.5', '5.', '1.005', '1,50', '+1', '--1', ' 1', '1 ', '1e2', '0x10', '$1'])('no amount: %j', text =>
  expect(() => toCents(text)).toThrow(`not an amount: ${text}`)
)

test.each([
  ['2.55', '3.00', 'percent', '2.47'],
  // 0.50 % of 1.00 is half a cent, of 0.99 less than that.
  ['1.00', '0.50', 'percent', '0.99'],
  ['0.99', '0.50', 'percent', '0.99'],
  ['20.16', '100', 'percent', '0.00'],
  ['20.16', '150', 'percent', '0.00'],
  ['20.16', '5', 'amount', '15.16'],
  ['4.99', '5.00', 'amount', '0.00'],
  ['0.00', '3', 'percent', '0.00'],
  ['90071992547409.93', '0.01', 'percent', '90062985348155.19']
] as const)('%s less %s (%s) is %s', (amount, discount, discount_type, left) =>
  expect(afterDiscount(amount, { discount, discount_type })).toBe(left)
)
