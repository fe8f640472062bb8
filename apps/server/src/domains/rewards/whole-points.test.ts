import { assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { coinMillionths, wholePoints } from './whole-points.ts'

test('points are rounded down from the exact product', () => {
  expect(wholePoints('10.10', 0.3)).toBe(3)
  // Floating point gives 434.99999999999994 and 28.999999999999996.
  expect(wholePoints('4.35', 100)).toBe(435)
  expect(wholePoints('0.29', 100)).toBe(29)
  expect(wholePoints('19.99', 0.05)).toBe(0)
  expect(wholePoints('20.00', 0.05)).toBe(1)
  expect(wholePoints('1000000.00', 5e-7)).toBe(0)
  expect(wholePoints('2000000.00', 5e-7)).toBe(1)
  expect(wholePoints('3.99', 0)).toBe(0)
  expect(wholePoints('2', 1e21)).toBe(2e21)
  expect(wholePoints('20000000', 1.5e-7)).toBe(3)
})

test('coins are counted in millionths: those of cents at a rate of four decimals come out even, others are rounded down', () => {
  expect(coinMillionths('9.99', 0.05)).toBe(499_500)
  expect(coinMillionths('0.01', 0.0375)).toBe(375)
  expect(coinMillionths('0.19', 0.00001)).toBe(1)
  expect(coinMillionths('20.00', 0.05)).toBe(1_000_000)
})

test('any amount at any rate of hundredths is what whole numbers say', () => {
  assert(
    property(integer({ min: 0, max: 10 ** 9 }), integer({ min: 0, max: 100_000 }), (cents, hundredths) => {
      const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
      const rate = Number(`${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, '0')}`)
      expect(wholePoints(amount, rate)).toBe(Number((BigInt(cents) * BigInt(hundredths)) / 10_000n))
    })
  )
})

test.each(['', '-1', '1.', '.5', '1,5', '1e', 'NaN', '1.5.5', 'x1', '1e5x'])('no decimal: %j', text => {
  expect(() => wholePoints(text, 1)).toThrow(`not a decimal: ${text}`)
})
