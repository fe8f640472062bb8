import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { routes, type Product } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { productPayload } from '../../../../sandbox/src/shopify/product-payload.ts'
import type { PlatformProduct } from '../../../../sandbox/src/shopify/state.ts'
import { control, secrets } from '../../../../sandbox/src/testing/harness.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { ProductEvent } from '../../integrations/shopify/index.ts'
import type { TestClient } from '../../testing/client.ts'
import { openPlatform } from '../commerce/index.ts'
import { writeSettings } from '../settings/index.ts'
import { advertisedProduct, productsOnSale } from './list-products.ts'
import { applyProductUpdate, withdrawProduct } from './apply-product-event.ts'
import { listPlatformProducts } from './platform-products.ts'
import { fail, first, plan, rule, second, startPriceShop, type PriceShop } from './prices.fixture.ts'
import { presentCatalogue } from './sync-catalogue.ts'
import { addCollection, addTag } from './products.fixture.ts'
import { readPrices, readProducts, rereadProduct } from './read-platform.ts'
import { productCollections, products, productTags, variants } from './tables.ts'
import { findUnsellable } from './check-product.ts'

const { catalog } = routes
const NONE = { count: 0, names: [] }

let prices: PriceShop
let visitor: TestClient
let productId = 0
let ruleId = 0

beforeAll(async () => {
  prices = await startPriceShop()
  visitor = prices.shop.visitor()
})
beforeEach(async () => {
  ;({ productId, ruleId } = await prices.reset())
  const sold = { status: 'ACTIVE', unpublished: false, subscriptionOnly: false }
  for (const [id, variant] of Object.entries({ [plan.id]: first.id, [demoRulesProduct.id]: rule.variantId }))
    await set({ ...sold, variants: [{ id: variant, stock: null, shipped: false }] }, id)
  await readPrices(prices.shop.ctx)
})
afterAll(() => prices?.close())

/** Changes a product on the platform without a webhook. */
const set = (change: object, id = plan.id) =>
  control<PlatformProduct>(prices.sandbox, 'PATCH', `/products/${id}`, { ...change, silent: true })

const tell = (product: PlatformProduct) =>
  command(prices.shop.ctx, SYSTEM, unit => applyProductUpdate(unit, ProductEvent.parse(productPayload(product))))

const ours = async () => {
  const [row] = await prices.shop.ctx.db.select().from(products).where(eq(products.id, productId))
  const { valid, unlisted, unpublished } = row ?? fail()
  return { valid, unlisted, unpublished }
}

/** Ids that a visitor finds; replies are shared for two seconds. */
async function found(path: string): Promise<number[]> {
  prices.shop.advance(31_000)
  const { data } = await visitor.get<{ data: Product[] } | Product[]>(path)
  return (Array.isArray(data) ? data : data.data).map(({ id }) => id)
}

const SOLD = { valid: true, unlisted: false, unpublished: false }
const cart = async () => (await fetch(`${prices.sandbox.url}/cart/${first.id}:1`, { redirect: 'manual' })).status
const forSale = async () => {
  const platform = await openPlatform(prices.shop.ctx)
  const there = platform.ok ? await platform.data.variants([first.id]) : fail()
  return there.ok ? there.value.get(first.id)?.forSale : fail()
}

test('an unlisted product is sold and renewed by its link, and no list, search or sitemap has it', async () => {
  const { db } = prices.shop.ctx
  const collectionId = await addCollection(db, 'Private')
  const tagId = await addTag(db, 'Private')
  await db.insert(productCollections).values({ productId, collectionId })
  await db.insert(productTags).values({ productId, tagId })
  const lists = [
    catalog.products.path,
    `${catalog.products.path}?search=${encodeURIComponent(plan.title)}`,
    `${catalog.products.path}?collection=${collectionId}`,
    `${catalog.products.path}?tags=${tagId}`,
    `${catalog.products.path}?acl=${ruleId}`,
    `${catalog.recommended.path}?tags=${tagId}`
  ]
  const counted = async () => {
    prices.shop.advance(31_000)
    const all = await visitor.get<{ data: { id: number; product_count: number }[] }>(catalog.collections.path)
    return all.data.data.find(({ id }) => id === collectionId)?.product_count
  }
  for (const path of lists) expect(await found(path), path).toEqual([productId])
  expect(await counted()).toBe(1)

  await set({ status: 'UNLISTED' })
  await readPrices(prices.shop.ctx)
  expect(await ours()).toEqual({ ...SOLD, unlisted: true })
  for (const path of lists) expect(await found(path), path).toEqual([])
  expect(await counted()).toBe(0)
  expect(await productsOnSale(db, 100)).toEqual([])
  expect(await found(`${catalog.products.path}?id=${productId}`)).toEqual([productId])
  expect(await advertisedProduct(db, productId)).toMatchObject({ id: productId, unlisted: true })
  const body = {
    product_id: productId,
    option_selected: { option1: 'New York', option2: 'Single address', acl_selected: [ruleId] }
  }
  expect(await visitor.post(catalog.variantInfo.path, body)).toMatchObject({ code: 2000 })
  expect([await cart(), await forSale()]).toEqual([302, true])
  const listed = await prices.admin.get<{ data: Product[] }>(catalog.products.path)
  expect(listed.data.data[0]).toMatchObject({ id: productId, valid: true, unlisted: true })

  await set({ status: 'ACTIVE' })
  await readPrices(prices.shop.ctx)
  expect(await found(catalog.products.path)).toEqual([productId])
})

test('an unlisted product of the platform can be added', async () => {
  await prices.shop.ctx.db.update(products).set({ deletedAt: prices.shop.ctx.now() }).where(eq(products.id, productId))
  await set({ status: 'UNLISTED' })
  const offered = await listPlatformProducts(prices.shop.ctx, plan.title)
  expect(offered.ok && offered.data.map(one => one.shopify_product_id)).toEqual([plan.id])
})

test('a product that is not in the Online Store is not sold, since its checkout would not open; the console names it', async () => {
  const { ctx } = prices.shop
  await set({ unpublished: true })
  expect([await cart(), await forSale()]).toEqual([404, false])
  await readPrices(ctx)
  expect(await ours()).toEqual({ valid: false, unlisted: false, unpublished: true })
  expect(await found(`${catalog.products.path}?id=${productId}`)).toEqual([])
  expect((await findUnsellable(ctx.db)).unpublished).toEqual({
    products: { count: 1, names: [plan.title] },
    rules: NONE
  })
  const listed = await prices.admin.get<{ data: Product[] }>(`${catalog.products.path}?problem=1`)
  expect(listed.data.data[0]).toMatchObject({ id: productId, valid: false, unpublished: true })

  await tell(await set({ unpublished: false }))
  expect([await ours(), await cart()]).toEqual([SOLD, 302])
  expect((await findUnsellable(ctx.db)).unpublished).toEqual({ products: NONE, rules: NONE })
})

/** The platform gives its products another status from now on. @returns what ends that */
async function withStatus(status: string) {
  const server = createServer((request, response) => {
    void (async () => {
      const sent = await fetch(`${prices.sandbox.url}${request.url}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-shopify-access-token': secrets.accessToken },
        body: await text(request)
      })
      const told = (await sent.text()).replaceAll('"status":"ACTIVE"', `"status":"${status}"`)
      response.writeHead(sent.status, { 'content-type': 'application/json' }).end(told)
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await writeSettings(prices.shop.ctx, {
    shopify_shop_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  return async () => {
    server.closeAllConnections()
    server.close()
    await writeSettings(prices.shop.ctx, { shopify_shop_url: prices.sandbox.url })
  }
}

test('a product with a status that is not known is not sold, the other ones are read, and the log names it once', async () => {
  const { ctx } = prices.shop
  await set({ status: 'UNLISTED' }, demoRulesProduct.id)
  const warn = vi.spyOn(ctx.log, 'warn')
  const end = await withStatus('SUSPENDED')
  try {
    for (let times = 0; times < 2; times++) await readProducts(ctx, { asked: true })
    expect(await ours()).toEqual({ valid: false, unlisted: false, unpublished: false })
    expect(await prices.ruleHere()).toMatchObject({ valid: true })
  } finally {
    await end()
  }
  expect(warn.mock.calls.filter(([about]) => JSON.stringify(about).includes('SUSPENDED'))).toHaveLength(1)
  warn.mockRestore()
  await readPrices(ctx)
  expect(await ours()).toEqual(SOLD)
})

test('a product that was withdrawn or deleted is not called unpublished', async () => {
  const { ctx } = prices.shop
  await tell(await set({ unpublished: true }))
  await tell(await set({ status: 'DRAFT', unpublished: true }))
  expect(await ours()).toEqual({ valid: false, unlisted: false, unpublished: false })
  await tell(await set({ status: 'ACTIVE', unpublished: true }))
  expect((await ours()).unpublished).toBe(true)
  await command(ctx, SYSTEM, unit => withdrawProduct(unit, { id: plan.id }))
  expect(await ours()).toEqual({ valid: false, unlisted: false, unpublished: false })
})

test('a rule whose product is not in the Online Store is not sold, and is named', async () => {
  const { ctx } = prices.shop
  await set({ unpublished: true }, demoRulesProduct.id)
  await readPrices(ctx)
  expect(await prices.ruleHere()).toMatchObject({ valid: false, unpublished: true })
  expect((await findUnsellable(ctx.db)).unpublished).toEqual({
    products: NONE,
    rules: { count: 1, names: [rule.name] }
  })
  await tell(await set({ unpublished: false }, demoRulesProduct.id))
  expect(await prices.ruleHere()).toMatchObject({ valid: true, unpublished: false })
})

test('a plan that the platform sells by subscription only is not sold, since no link can buy it; the console says why', async () => {
  const { ctx } = prices.shop
  const changed = await set({ subscriptionOnly: true })
  expect([await cart(), await forSale()]).toEqual([404, false])
  // Its webhook does not tell.
  await tell(changed)
  expect(await ours()).toEqual(SOLD)
  await readPrices(ctx)
  const why = { valid: false, subscription_only: true, unpublished: false }
  for (let times = 0; times < 2; times++) {
    const listed = await prices.admin.get<{ data: Product[] }>(`${catalog.products.path}?problem=1`)
    expect(listed.data.data[0]).toMatchObject({ id: productId, ...why })
    expect(await found(`${catalog.products.path}?id=${productId}`)).toEqual([])
    await tell(changed)
  }
  const named = { products: { count: 1, names: [plan.title] }, rules: NONE }
  expect((await findUnsellable(ctx.db)).subscription_only).toEqual(named)
  const offered = await listPlatformProducts(ctx, plan.title)
  expect(offered.ok && offered.data).toEqual([])

  await set({ subscriptionOnly: false })
  await readPrices(ctx)
  expect([await ours(), await cart()]).toEqual([SOLD, 302])
  expect((await findUnsellable(ctx.db)).subscription_only).toEqual({ products: NONE, rules: NONE })
})

test('why a plan is not sold follows the platform, also while it stays unsold', async () => {
  const { ctx } = prices.shop
  const why = async () => {
    await readPrices(ctx)
    const [row] = await ctx.db.select().from(products).where(eq(products.id, productId))
    return [row?.valid, row?.unpublished, row?.subscriptionOnly]
  }
  await set({ unpublished: true })
  expect(await why()).toEqual([false, true, false])
  await set({ unpublished: false, subscriptionOnly: true })
  expect(await why()).toEqual([false, false, true])
  await set({ status: 'DRAFT', subscriptionOnly: true })
  expect(await why()).toEqual([false, false, false])
})

test('a rule that the platform sells by subscription only is not sold, and is named', async () => {
  const { ctx } = prices.shop
  const changed = await set({ subscriptionOnly: true }, demoRulesProduct.id)
  await readPrices(ctx)
  await tell(changed)
  expect(await prices.ruleHere()).toMatchObject({ valid: false, subscriptionOnly: true })
  const named = { products: NONE, rules: { count: 1, names: [rule.name] } }
  expect((await findUnsellable(ctx.db)).subscription_only).toEqual(named)
  await set({ subscriptionOnly: false }, demoRulesProduct.id)
  await readPrices(ctx)
  expect(await prices.ruleHere()).toMatchObject({ valid: true, subscriptionOnly: false })
})

test('a plan and a rule that the platform ships are sold, since it may ship for nothing, and are named', async () => {
  const { ctx } = prices.shop
  const ship = async (shipped: boolean) => [
    await set({ variants: [{ id: first.id, shipped }] }),
    await set({ variants: [{ id: rule.variantId, shipped }] }, demoRulesProduct.id)
  ]
  const changed = await ship(true)
  await readPrices(ctx)
  const named = {
    products: { count: 1, names: [plan.title] },
    rules: { count: 1, names: [rule.name] }
  }
  for (let times = 0; times < 2; times++) {
    expect((await findUnsellable(ctx.db)).shipped).toEqual(named)
    expect([await ours(), await quoted(), await forSale(), await cart()]).toMatchObject([
      SOLD,
      { code: 2000 },
      true,
      302
    ])
    // Webhooks do not tell.
    for (const product of changed) await tell(product)
  }
  const listed = await prices.admin.get<{ data: Product[] }>(`${catalog.products.path}?problem=1`)
  expect(listed.data.data[0]?.variants.map(one => one.shipped)).toEqual([true, false])
  const shown = await visitor.get<{ data: Product[] }>(`${catalog.products.path}?id=${productId}`)
  expect(shown.data.data[0]?.variants.map(one => one.shipped)).toEqual([false, false])

  await ship(false)
  await readPrices(ctx)
  expect((await findUnsellable(ctx.db)).shipped).toEqual({ products: NONE, rules: NONE })
})

test('if the app may not read what is published, the last webhook counts', async () => {
  const { ctx } = prices.shop
  const denied = () => control(prices.sandbox, 'POST', '/graphql/faults', { kind: 'no_publishing', next: 100 })
  const hidden = await set({ unpublished: true })
  await denied()
  await readPrices(ctx)
  await rereadProduct(ctx, plan.id)
  expect([await ours(), await forSale()]).toEqual([SOLD, true])
  await tell(hidden)
  await rereadProduct(ctx, plan.id)
  expect(await ours()).toEqual({ valid: false, unlisted: false, unpublished: true })
})

/** How many are left of these variants on the platform; null: not counted. */
const left = (counts: Record<string, number | null>, id = plan.id) =>
  set({ variants: Object.entries(counts).map(([variant, stock]) => ({ id: variant, stock })) }, id)
const stocks = async () => {
  const rows = await prices.shop.ctx.db.select().from(variants).where(eq(variants.productId, productId))
  return new Map(rows.map(({ platformId, platformStock }) => [platformId, platformStock]))
}
const quoted = () => {
  const body = {
    product_id: productId,
    option_selected: { option1: 'New York', option2: 'Single address', acl_selected: [ruleId] }
  }
  return visitor.post(catalog.variantInfo.path, body)
}
const shownStock = async () => {
  prices.shop.advance(31_000)
  const { data } = await visitor.get<{ data: Product[] }>(`${catalog.products.path}?id=${productId}`)
  return data.data[0]?.variants.find(({ shopify_variant_id }) => shopify_variant_id === first.id)?.variant_stock
}

test('a variant that the platform counts is named while it is sold, and not sold once the platform has none left', async () => {
  const { ctx } = prices.shop
  await left({ [first.id]: 3 })
  await readPrices(ctx)
  expect(await stocks()).toEqual(
    new Map([
      [first.id, 'counted'],
      [second.id, 'none']
    ])
  )
  expect((await findUnsellable(ctx.db)).counted).toEqual({ products: { count: 1, names: [plan.title] }, rules: NONE })
  const listed = await prices.admin.get<{ data: Product[] }>(`${catalog.products.path}?problem=1`)
  expect(listed.data.data[0]?.variants.map(one => one.platform_stock)).toEqual(['counted', 'none'])
  expect([await quoted(), await forSale()]).toMatchObject([{ code: 2000 }, true])
  expect(await shownStock()).toBeGreaterThan(0)

  // The platform tells of each sale, and its webhook does not say what is left for its checkout.
  const soldOut = await left({ [first.id]: 0 })
  await tell(soldOut)
  expect((await stocks()).get(first.id)).toBe('counted')
  await prices.shop.drain()
  expect((await stocks()).get(first.id)).toBe('sold_out')
  expect([await cart(), await forSale()]).toEqual([404, false])
  expect(await quoted()).toMatchObject({
    code: 409,
    data: { reason: 'sold_out_on_platform', params: { name: 'New York / Single address' } }
  })
  expect(await shownStock()).toBe(0)
  // The other variants of the product are sold.
  expect(await ours()).toEqual(SOLD)
  expect((await findUnsellable(ctx.db)).counted.products.count).toBe(1)
  await tell(soldOut)
  expect((await stocks()).get(first.id)).toBe('sold_out')

  await left({ [first.id]: null })
  await readPrices(ctx)
  expect((await stocks()).get(first.id)).toBe('none')
  expect(await quoted()).toMatchObject({ code: 2000 })
  expect((await findUnsellable(ctx.db)).counted).toEqual({ products: NONE, rules: NONE })
})

test('a rule that the platform counts is named, and not offered once none is left; who has paid for it gets it', async () => {
  const { ctx } = prices.shop
  await left({ [rule.variantId]: 1 }, demoRulesProduct.id)
  await readPrices(ctx)
  expect(await prices.ruleHere()).toMatchObject({ valid: true, platformStock: 'counted' })
  expect((await findUnsellable(ctx.db)).counted).toEqual({ products: NONE, rules: { count: 1, names: [rule.name] } })
  expect(await quoted()).toMatchObject({ code: 2000 })

  await tell(await left({ [rule.variantId]: 0 }, demoRulesProduct.id))
  await prices.shop.drain()
  expect(await prices.ruleHere()).toMatchObject({ valid: true, platformStock: 'sold_out' })
  expect(await quoted()).toMatchObject({ data: { reason: 'unknown_rule' } })

  await left({ [rule.variantId]: null }, demoRulesProduct.id)
  await readPrices(ctx)
  expect(await prices.ruleHere()).toMatchObject({ valid: true, platformStock: 'none' })
})

test('what a product that is not for sale has left does not matter', async () => {
  await left({ [first.id]: 0 })
  await tell(await set({ status: 'DRAFT' }))
  await readPrices(prices.shop.ctx)
  expect((await stocks()).get(first.id)).toBe('none')
})

test('a sync says of a product that it would be unlisted from then on', () => {
  const was = { name: plan.title, valid: true, unlisted: false, oldFlag: false }
  const touched = [{ key: 'product:1', name: plan.title, before: was, after: { ...was, unlisted: true } }]
  const { parts } = presentCatalogue(touched, { holders: [], offered: [], sold: [] })
  expect(parts.find(({ part }) => part === 'products')?.changes).toEqual([
    { kind: 'updated', name: plan.title, fields: [{ field: 'visibility', was: 'shown', is: 'unlisted' }] }
  ])
})
