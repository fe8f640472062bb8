import { routes, type PlatformProduct as Offered, type Product } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { productPayload } from '../../../../sandbox/src/shopify/product-payload.ts'
import type { PlatformProduct } from '../../../../sandbox/src/shopify/state.ts'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { ProductEvent } from '../../integrations/shopify/index.ts'
import { checkPlatform } from '../commerce/index.ts'
import { applyProductUpdate } from './apply-product-event.ts'
import { findVariant } from './quote.ts'
import { fail, first, plan, rule, second, startPriceShop, type PriceShop } from './prices.fixture.ts'
import { addGroup } from './products.fixture.ts'
import { readPrices, readProducts, rereadProduct } from './read-platform.ts'
import { products, variants } from './tables.ts'

const { catalog } = routes

let prices: PriceShop
let productId = 0

beforeAll(async () => {
  prices = await startPriceShop()
})
beforeEach(async () => {
  ;({ productId } = await prices.reset())
})
afterAll(() => prices?.close())

/** Changes a product on the platform without a webhook. */
const set = (change: object, id = plan.id) =>
  control<PlatformProduct>(prices.sandbox, 'PATCH', `/products/${id}`, { ...change, silent: true })

const tell = (payload: object) =>
  command(prices.shop.ctx, SYSTEM, unit => applyProductUpdate(unit, ProductEvent.parse(payload)))

/** The product as its page shows it; undefined if no visitor can buy it. Replies are shared for two seconds. */
async function shown(id: number): Promise<Product | undefined> {
  prices.shop.advance(31_000)
  const { data } = await prices.shop.visitor().get<{ data: Product[] }>(`${catalog.products.path}?id=${id}`)
  return data.data[0]
}

const cart = async () => (await fetch(`${prices.sandbox.url}/cart/${first.id}:1`, { redirect: 'manual' })).status

const WITHOUT = { option1: '', option2: '', option3: '' }

test('a product without options is sold under its own name, and there is nothing to choose', async () => {
  const { ctx } = prices.shop
  const { groupId } = await addGroup(ctx.db, [{ cidr: '10.9.0.0/28' }])
  const made = await control<PlatformProduct>(prices.sandbox, 'POST', '/products', {
    title: 'Plain',
    variants: [{ price: '3.00' }]
  })
  // What the platform says, by webhook and by GraphQL.
  expect(productPayload(made)).toMatchObject({
    options: [{ name: 'Title', values: ['Default Title'] }],
    variants: [{ title: 'Default Title', option1: 'Default Title' }]
  })
  const offered = await prices.admin.get<Offered[]>(catalog.platformProducts.path)
  const found = offered.data.find(one => one.shopify_product_id === made.id) ?? fail()
  expect(found).toMatchObject({
    variant_options: [],
    variants: [{ variant_name: 'Plain', variant_option1: null }]
  })
  const added = await prices.admin.post<Product>(catalog.createProduct.path, {
    ...found,
    product_collections: [],
    product_tags: [],
    variants: found.variants.map(one => ({ ...one, cart_step: 1, proxy_time: 30, server_group: groupId }))
  })
  const { id } = added.data
  const asSold = async () => {
    const there = (await shown(id)) ?? fail()
    const chosen = await findVariant(ctx.db, { productId: id, options: WITHOUT })
    expect(chosen.ok).toBe(true)
    const [variant = fail()] = there.variants
    return [there.product_name, there.variant_options, variant.variant_name, variant.variant_option1]
  }
  expect(await asSold()).toEqual(['Plain', [], 'Plain', null])

  await tell({ ...productPayload(made), title: 'Plainer', updated_at: '2027-01-01T00:00:00Z' })
  expect(await asSold()).toEqual(['Plainer', [], 'Plainer', null])

  // As an earlier version stored it.
  const stored = { name: 'Default Title', option1: 'Default Title' }
  await ctx.db.update(variants).set(stored).where(eq(variants.productId, id))
  await ctx.db.update(products).set({ platformUpdatedAt: null }).where(eq(products.id, id))
  await rereadProduct(ctx, made.id)
  expect(await asSold()).toEqual(['Plain', [], 'Plain', null])
})

test('options that the platform renames or puts into another order keep the labels of their values', async () => {
  const labels = async () => (await shown(productId))?.variant_options.map(({ option_name }) => option_name)
  await set({ optionNames: ['Place', 'Size'] })
  await readProducts(prices.shop.ctx)
  expect(await labels()).toEqual(['Place', 'Size'])

  const payload = productPayload(await set({}))
  await tell({
    ...payload,
    options: payload.options.toReversed(),
    variants: payload.variants.map(one => ({ ...one, option1: one.option2, option2: one.option1 }))
  })
  const now = (await shown(productId)) ?? fail()
  expect(await labels()).toEqual(['Size', 'Place'])
  expect(now.variant_options[0]?.option_values[0]?.option_value).toBe('Single address')
  expect(now.variants[0]).toMatchObject({ variant_option1: 'Single address', variant_option2: 'New York' })
})

test('a product is not sold before the day on which the Online Store gets it', async () => {
  const { shop } = prices
  const { ctx } = shop
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  const scheduled = await set({ publishedAt: at(2 * DAY) })
  expect(await cart()).toBe(404)
  await readPrices(ctx)
  expect(await shown(productId)).toBeUndefined()
  const [row] = await ctx.db.select().from(products).where(eq(products.id, productId))
  expect(row).toMatchObject({ valid: false, unpublished: true })
  shop.advance(HOUR)
  await tell(productPayload(scheduled))
  expect(await shown(productId)).toBeUndefined()

  await set({ publishedAt: at(-HOUR) })
  expect(await cart()).toBe(302)
  await readPrices(ctx)
  expect((await shown(productId))?.id).toBe(productId)
})

/** Takes a variant out of the Online Store, or back into it, while its product stays there. */
const hide = (unpublished: boolean, id = first.id, product: string = plan.id) =>
  set({ variants: [{ id, unpublished }] }, product)
const quoted = async () => {
  const { ruleHere, shop } = prices
  const { id: rule } = (await ruleHere()) ?? fail()
  const chosen = { option1: 'New York', option2: 'Single address', acl_selected: [rule] }
  const body = { product_id: productId, option_selected: chosen }
  const { code, data } = await shop.visitor().post<{ reason?: string }>(catalog.variantInfo.path, body)
  return code === 2000 ? 'sold' : data.reason
}
const scopes = async (read_publications: boolean) => {
  await control(prices.sandbox, 'POST', '/app', { read_publications })
  await checkPlatform(prices.shop.ctx)
}

test('a variant or rule that is taken out of the Online Store alone is not sold until it is back', async () => {
  const { ctx } = prices.shop
  await scopes(true)
  await hide(true)
  expect(await cart()).toBe(404)
  await readPrices(ctx)
  expect(await quoted()).toBe('sold_out_on_platform')
  const shownStock = async () => (await shown(productId))?.variants[0]?.variant_stock
  expect(await shownStock()).toBe(0)
  // A webhook does not tell, and causes a reading.
  await tell(productPayload(await hide(false)))
  await prices.shop.drain()
  expect([await cart(), await quoted()]).toEqual([302, 'sold'])
  expect(await shownStock()).toBeGreaterThan(0)

  await hide(true, rule.variantId, demoRulesProduct.id)
  await readPrices(ctx)
  expect(await quoted()).toBe('unknown_rule')
  await hide(false, rule.variantId, demoRulesProduct.id)
  await readPrices(ctx)
  expect(await quoted()).toBe('sold')
})

test('an app that may not read publications sells such a variant, and reads all others', async () => {
  await scopes(false)
  await hide(true)
  await prices.platformPrices({ [second.id]: '9.90' })
  await readPrices(prices.shop.ctx)
  expect(await prices.pricesHere()).toEqual(['2.20', '9.90'])
  expect(await quoted()).toBe('sold')
  await hide(false)
  await scopes(true)
})
