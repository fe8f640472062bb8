import { assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { checkoutUrl } from './checkout-url.ts'
import { shopBase } from './result.ts'

test('lines, email, note, attributes and codes are where the platform expects them', () => {
  const url = checkoutUrl({
    shopUrl: 'netlet.myshopify.com',
    lines: [
      { variantId: '111', quantity: 8 },
      { variantId: '222', quantity: 8 }
    ],
    email: 'a+b@example.com',
    note: 'Order 7 & more',
    attributes: { order_id: '7', renewal: true },
    discountCodes: ['GOLD8', '', 'MINE']
  })
  const read = new URL(url ?? '')
  expect(read.origin + read.pathname).toBe('https://netlet.myshopify.com/cart/111:8,222:8')
  expect(Object.fromEntries(read.searchParams)).toEqual({
    'checkout[email]': 'a+b@example.com',
    note: 'Order 7 & more',
    'attributes[order_id]': '7',
    'attributes[renewal]': '1',
    discount: 'GOLD8,MINE'
  })
})

test('missing values are not in the link', () => {
  const lines = [{ variantId: '1', quantity: 1 }]
  const url = checkoutUrl({ shopUrl: 'http://127.0.0.1:3001/', lines, attributes: { order_id: '9' } })
  expect(url).toBe('http://127.0.0.1:3001/cart/1:1?attributes%5Border_id%5D=9')
})

test('any email, note and order id come back unchanged', () => {
  assert(
    property(string({ minLength: 1 }), string({ minLength: 1 }), string(), (email, note, order_id) => {
      const lines = [{ variantId: '1', quantity: 1 }]
      const { searchParams } = new URL(
        checkoutUrl({ shopUrl: 'x.example', lines, email, note, attributes: { order_id } }) ?? ''
      )
      expect(searchParams.get('checkout[email]')).toBe(email.toWellFormed())
      expect(searchParams.get('note')).toBe(note.toWellFormed())
      expect(searchParams.get('attributes[order_id]')).toBe(order_id.toWellFormed())
    })
  )
})

test.each([
  [{ variantId: 'gid://shopify/ProductVariant/1', quantity: 1 }],
  [{ variantId: '1', quantity: 0 }],
  [{ variantId: '1', quantity: 1.5 }]
])('refuses the line %o', line => {
  expect(() => checkoutUrl({ shopUrl: 'x.example', lines: [line], attributes: { order_id: '1' } })).toThrow(RangeError)
})

test.each([
  ['shop.myshopify.com', 'https://shop.myshopify.com'],
  [' https://shop.myshopify.com/admin ', 'https://shop.myshopify.com'],
  ['http://127.0.0.1:3001', 'http://127.0.0.1:3001'],
  ['', null],
  ['not a host', null],
  ['user:pass@evil.example', null]
])('the shop address %j means %j', (given, base) => {
  expect(shopBase(given)).toBe(base)
})
