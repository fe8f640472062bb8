import { expect, test } from 'vitest'
import { toCents } from '../kit/http.ts'
import { demoCollections, demoPlans, demoRules, demoRulesProduct } from './catalogue.ts'
import { freshState, productsOf } from './state.ts'

test('every id in the demo catalogue is used once', () => {
  const ids = [
    ...demoCollections.map(one => one.id),
    ...demoPlans.map(one => one.id),
    ...demoPlans.flatMap(one => one.variants.map(variant => variant.id)),
    demoRulesProduct.id,
    ...demoRules.map(one => one.variantId)
  ]
  expect(new Set(ids).size).toBe(ids.length)
})

test('a bigger block never costs more per address, and every price is money', () => {
  for (const { variants } of demoPlans)
    for (const a of variants)
      for (const b of variants)
        if (a.location === b.location && a.proxyTime === b.proxyTime && a.cartStep < b.cartStep)
          expect(toCents(b.price)).toBeLessThanOrEqual(toCents(a.price))
})

test('the access rules are in no collection and cost 0.10 to 0.50', () => {
  const product = productsOf(freshState()).find(one => one.id === demoRulesProduct.id)
  expect(product?.collections).toEqual([])
  expect(product?.variants.map(one => one.title)).toEqual(demoRules.map(one => one.name))
  for (const { price } of demoRules) {
    expect(toCents(price)).toBeGreaterThanOrEqual(10)
    expect(toCents(price)).toBeLessThanOrEqual(50)
  }
})
