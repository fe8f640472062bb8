import * as contract from '@netlet/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'
import { CASES, REQUIRED, type Schema } from './validation.fixture.ts'
import { fromNow } from '../testing/later.ts'
import { newKey } from '../testing/asking-once.ts'

/** The first message of each field. */
function messagesOf(schema: Schema, value: unknown): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { path, message } of schema.safeParse(value).error?.issues ?? [])
    found[path.join('.') || 'body'] ??= message
  return found
}

describe.each(REQUIRED)('$area', ({ schema, required }) => {
  test.each(Object.entries(required))('%s is required', (field, message) => {
    expect(messagesOf(schema, {})[field], 'missing').toBe(message)
    expect(messagesOf(schema, { [field]: null })[field], 'null').toBe(message)
    // Of the captcha's answer the server does not see more than that it is no number.
    expect(messagesOf(schema, { [field]: '' })[field], 'empty').toBe(message)
    if (field !== 'password' && field !== 'new_password')
      expect(messagesOf(schema, { [field]: [] })[field]).toBe(message)
  })
})

test.each(CASES)('%s: %o', (_area, schema, form, field, message) => {
  expect(messagesOf(schema, form)[field]).toBe(message)
})

const variant = { shopify_variant_id: '1', variant_price: '1.00', cart_step: 8, proxy_time: 30 }

test.each([0, -1, 1.5, null, 'x'])('Proxy time: %j is no number of days, which are at least 1', proxy_time => {
  const message = messagesOf(contract.VariantForm, { ...variant, proxy_time })['proxy_time']
  expect(message).toBe('Must be at least 1')
})

test('Cart step: the choices are 1, 8, 16, 32, 64, 128 and 256, and 255 is none of them', () => {
  expect(contract.CART_STEPS).toEqual([1, 8, 16, 32, 64, 128, 256])
  for (const cart_step of contract.CART_STEPS)
    expect(messagesOf(contract.VariantForm, { ...variant, cart_step })).toEqual({})
  for (const cart_step of [0, 2, 255, 512, -8])
    expect(Object.keys(messagesOf(contract.VariantForm, { ...variant, cart_step }))).toEqual(['cart_step'])
})

describe('what only the server knows', () => {
  let shop: StockedShop
  let customer: Buyer
  let admin: Buyer

  beforeAll(async () => {
    shop = await startStockedShop()
    customer = await shop.customer()
    admin = await shop.admin()
  })
  afterAll(() => shop?.close())

  const order = (quantity: unknown, acl_selected: unknown[] = shop.rules) =>
    customer.post('/api/orders/checkout', {
      product_id: shop.productId,
      quantity,
      option_selected: { option1: 'New York', acl_selected }
    })

  test.each([0, -8, 7, 9, 12])('Quantity: %i is no positive multiple of the step of 8', async wrong => {
    const reply = await order(wrong)
    expect(reply).toMatchObject({ code: 400 })
    expect(reply.msg).toMatch(/^The quantity must be a positive multiple of/)
  })

  test('Quantity: more than the stock is out of stock', async () => {
    expect(await order(8000)).toMatchObject({ code: 409, msg: 'Out of stock' })
  })

  test('each field that is wrong has the key of its message beside its sentence', async () => {
    const form = { mount: '1.00', code: 'x'.repeat(65), point: 1 }
    expect(await admin.post('/api/rewards/gift_card/', form)).toMatchObject({
      code: 400,
      msg: 'At most 64 characters',
      data: {
        reason: 'invalid',
        errors: { code: 'At most 64 characters' },
        field_reasons: { code: { reason: 'at_most_characters', params: { max: 64 } } }
      }
    })
  })

  test('ACL selection: at least one', async () => {
    expect(await order(8, [])).toMatchObject({ code: 400, msg: 'Please select' })
  })

  test('ACL selection: what is no id is refused in words of our own', async () => {
    expect(await order(8, [-1])).toMatchObject({ code: 400, data: { reason: 'invalid' } })
    expect((await order(8, [-1])).msg).not.toMatch(/expected|Invalid input|Too small/)
  })

  test('Batch actions: a selection is required', async () => {
    for (const order_ids of ['', ',', ' '])
      expect(await admin.post('/api/orders/order_list/one_key_reset/', { order_ids })).toMatchObject({
        code: 400,
        msg: '请先选择订单',
        data: { reason: 'no_orders_selected' }
      })
  })

  test('Extend expiry: the time lies ahead', async () => {
    const bought = await shop.buy(customer)
    const path = `/api/orders/order_list/${bought.id}/update_proxy_expired_at/`
    expect((await admin.post(path, { expired_at: fromNow(shop.ctx, -1000).getTime() })).code).toBe(400)
    expect(await admin.post(path, { expired_at: Date.UTC(9999) })).toMatchObject({
      code: 400,
      data: { errors: { expired_at: 'The expiry must be before the year 2100' } }
    })
    expect((await admin.post(path, { expired_at: fromNow(shop.ctx, 86_400_000).getTime() })).code).toBe(2000)
  })

  test('Landing Confirm: at least one tag', async () => {
    for (const query of ['', '?tags=', '?tags=,'])
      expect(await shop.visitor().get(`/api/products/products/get_recommend_product/${query}`)).toMatchObject({
        code: 400,
        msg: 'Please select a product'
      })
  })

  test('Exchange: coins at least the reward cost', async () => {
    expect(
      await customer.post('/api/rewards/gift_card/exchange/', { mount: '5.00', point: 50 }, newKey())
    ).toMatchObject({
      code: 409,
      msg: 'Insufficient Coins'
    })
  })

  test('CIDR: only the excluded rules are editable', async () => {
    const [rule] = shop.rules
    const edited = await admin.put<contract.Cidr>('/api/servers/cidrs/1/', { exclude_acl: [rule], cidr: '10.0.0.0/8' })
    expect(edited.data).toMatchObject({ cidr: '127.40.0.0/20', exclude_acl: [{ id: rule }] })
    expect((await admin.put('/api/servers/cidrs/1/', { exclude_acl: [] })).code).toBe(2000)
  })

  test('Variant dialog: the stock is not editable', async () => {
    expect(contract.VariantForm.parse({ ...variant, variant_stock: 5 })).not.toHaveProperty('variant_stock')
  })

  test('Q&A search: without a text it is the list', async () => {
    expect((await shop.visitor().get<{ total: number }>('/api/tickets/fqa/?search=%20')).data.total).toBe(1)
  })

  test('the first wrong field speaks for the form, and each is in data.errors', async () => {
    expect(await admin.post('/api/tickets/fqa/', {})).toMatchObject({
      status: 400,
      code: 400,
      msg: 'Please enter question',
      data: { errors: { question: 'Please enter question', answer: 'Please enter answer' } }
    })
  })
})
