import { expect, it } from 'vitest'
import { perAddress } from './facts.tsx'

it.each([
  ['19.76', 8, '2.47'],
  ['10.00', 3, '3.33'],
  ['0.05', 8, '0.00'],
  ['2.00', 1, '2.00'],
  ['1999.99', 1000, '1.99']
])('%s for %d addresses is %s each: the third decimal is cut off', (amount, addresses, each) =>
  expect(perAddress(amount, addresses)).toBe(each)
)
