import { expect, test } from 'vitest'
import { demoPlans, demoRules } from './catalogue.ts'
import { priceCheckout } from './pricing.ts'
import { freshState, type DiscountCode } from './state.ts'

const variant = demoPlans[0]?.variants[1]
const rule = demoRules[0]
if (!variant || !rule) throw new Error('The demo catalogue is empty.')
const lines = [
  { variantId: variant.id, quantity: 8 },
  { variantId: rule.variantId, quantity: 8 }
]

const price = (codes: string[], known: DiscountCode[] = []) =>
  priceCheckout({ ...freshState(), discountCodes: known }, { lines, discountCodes: codes })

test('plan and rule lines add up exactly', () => {
  // 8 × 2.02 + 8 × 0.50
  expect(price([])).toMatchObject({ linesPrice: '20.16', totalPrice: '20.16', totalDiscounts: '0.00' })
})

test('codes apply one after the other, each once, case-insensitively', () => {
  const known: DiscountCode[] = [
    { code: 'TEN', type: 'percentage', value: '10' },
    { code: 'FIVER', type: 'fixed_amount', value: '5.00' }
  ]
  expect(price(['ten', 'FIVER', 'ten'], known)).toMatchObject({
    totalPrice: '13.14',
    totalDiscounts: '7.02',
    discounts: [
      { code: 'TEN', amount: '2.02', type: 'percentage' },
      { code: 'FIVER', amount: '5.00', type: 'fixed_amount' }
    ]
  })
})

test('a code never makes the total negative, and an unknown one is named', () => {
  const priced = price(['ALL', 'NOPE'], [{ code: 'ALL', type: 'fixed_amount', value: '999' }])
  expect(priced).toMatchObject({ totalPrice: '0.00', totalDiscounts: '20.16', unknownCodes: ['NOPE'] })
})

test('a variant that is not in the catalogue has no price', () => {
  expect(priceCheckout(freshState(), { lines: [{ variantId: '1', quantity: 1 }], discountCodes: [] })).toBeNull()
})
