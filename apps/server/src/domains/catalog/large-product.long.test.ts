import { routes, type PlatformProduct as Offered, type Product } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PlatformProduct } from '../../../../sandbox/src/shopify/state.ts'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { fail, startPriceShop, type PriceShop } from './prices.fixture.ts'
import { addGroup } from './products.fixture.ts'

const { catalog } = routes

/** The platform's limit. */
const MOST = 2048

let prices: PriceShop

beforeAll(async () => {
  prices = await startPriceShop()
  await prices.reset()
})
afterAll(() => prices?.close())

test('a product with as many variants as the platform allows is added, shown and saved', async () => {
  const { admin, sandbox, shop } = prices
  const { groupId } = await addGroup(shop.ctx.db, [{ cidr: '10.8.0.0/24' }])
  const words = Array.from({ length: MOST }, (_, at) => `City ${at}`)
  const made = await control<PlatformProduct>(sandbox, 'POST', '/products', {
    title: 'Everywhere',
    optionNames: ['Location'],
    variants: words.map(city => ({ price: '2.00', options: [city] }))
  })
  const offered = await admin.get<Offered[]>(catalog.platformProducts.path)
  const found = offered.data.find(one => one.shopify_product_id === made.id) ?? fail()
  const variants = found.variants.map(one => ({ ...one, cart_step: 1, proxy_time: 30, server_group: groupId }))
  const added = await admin.post<Product>(catalog.createProduct.path, {
    ...found,
    product_collections: [],
    product_tags: [],
    variants
  })
  expect(added).toMatchObject({ code: 2000 })
  expect(added.data.variants).toHaveLength(MOST)
  const page = await shop.visitor().get<{ data: Product[] }>(`${catalog.products.path}?id=${added.data.id}`)
  expect(page.data.data[0]?.variants).toHaveLength(MOST)
  const desc = '城'.repeat(255)
  const saved = await admin.put<Product>(`${catalog.createProduct.path}${added.data.id}/`, {
    ...found,
    product_name: 'Everywhere',
    translations: { 'zh-CN': { words: Object.fromEntries(words.map(word => [word, desc])) } },
    variants: added.data.variants.map(one => ({ ...one, variant_desc: desc, server_group: groupId }))
  })
  expect(saved).toMatchObject({ code: 2000, data: { product_name: 'Everywhere' } })
  expect(saved.data.variants.every(one => one.variant_desc === desc)).toBe(true)
})
