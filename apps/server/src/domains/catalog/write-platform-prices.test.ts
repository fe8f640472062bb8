import { routes } from '@netlet/contract'
import { eq, inArray, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { demoPlans, demoRules, demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { productPayload } from '../../../../sandbox/src/shopify/product-payload.ts'
import type { PlatformProduct } from '../../../../sandbox/src/shopify/state.ts'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { ProductEvent } from '../../integrations/shopify/index.ts'
import { auditLog } from '../../infra/tables.ts'
import { command } from '../../infra/command.ts'
import { ok } from '../../infra/result.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { createRule } from '../inventory/index.ts'
import { writeSettings } from '../settings/index.ts'
import { applyProductUpdate, withdrawProduct } from './apply-product-event.ts'
import { addProduct } from './products.fixture.ts'
import { readCheck } from '../commerce/index.ts'
import { readPrices, readProducts, rereadProduct } from './read-platform.ts'
import { writePrices } from './write-platform-prices.ts'
import { products, variants } from './tables.ts'
import { fail, first, plan, rule, startPriceShop, type PriceShop } from './prices.fixture.ts'

const { catalog } = routes

let shop: PriceShop['shop']
let admin: PriceShop['admin']
let sandbox: PriceShop['sandbox']
let platformPrices: PriceShop['platformPrices']
let priceThere: PriceShop['priceThere']
let pricesHere: PriceShop['pricesHere']
let ruleHere: PriceShop['ruleHere']
let reset: PriceShop['reset']
let close: PriceShop['close']
let productId = 0
let ruleId = 0

beforeAll(async () => {
  ;({ shop, admin, sandbox, platformPrices, priceThere, pricesHere, ruleHere, reset, close } = await startPriceShop())
})
beforeEach(async () => {
  ;({ productId, ruleId } = await reset())
})
afterAll(() => close?.())

type Form = {
  version?: string
  shopify_product_id: string
  product_name: string
  product_desc: string
  variants: Record<string, unknown>[]
}
/** The product as an administrator's form sends it. */
async function productForm(): Promise<Form> {
  const list = await admin.get<{ data: (Form & { id: number })[] }>(`${catalog.products.path}?id=${productId}`)
  const product = list.data.data[0] ?? fail()
  return {
    version: product.version ?? '',
    shopify_product_id: product.shopify_product_id,
    product_name: product.product_name,
    product_desc: product.product_desc,
    variants: product.variants.map(variant => ({
      ...variant,
      server_group: (variant['server_group'] as { id: number } | null)?.id ?? null
    }))
  }
}
const withdraw = (id: string) => command(shop.ctx, SYSTEM, unit => withdrawProduct(unit, { id }))
const saveProduct = (form: Form) => admin.put(`${catalog.products.path}${productId}/`, form)
const withPrice = (form: Form, price: string): Form => ({
  ...form,
  variants: form.variants.map((variant, at) => (at === 0 ? { ...variant, variant_price: price } : variant))
})

test('a price that is saved in the console is the platform’s price from then on', async () => {
  expect(await saveProduct(withPrice(await productForm(), '3.30'))).toMatchObject({ code: 2000 })
  expect(await priceThere(first.id)).toBe('3.30')
  expect(await pricesHere()).toEqual(['3.30', '2.02'])
})

test.each([
  ['unauthorized', 'refused the access token'],
  ['error500', 'has an internal error']
])('a platform that says %s keeps its price, and so do we: the form says why', async (kind, words) => {
  const form = withPrice(await productForm(), '3.30')
  await control(sandbox, 'POST', '/graphql/faults', { kind, next: 1 })
  const reply = await saveProduct({ ...form, product_name: 'Another name' })
  expect(reply).toMatchObject({ status: 503 })
  expect(reply.msg).toContain(words)
  expect(await priceThere(first.id)).toBe('2.20')
  expect(await pricesHere()).toEqual(['2.20', '2.02'])
  expect((await productForm()).product_name).toBe(plan.title)
})

test('if the platform refuses the last of several calls, all prices are taken back', async () => {
  const made = await control<PlatformProduct>(sandbox, 'POST', '/products', {
    title: 'Large',
    optionNames: ['Place'],
    variants: Array.from({ length: 260 }, (_, at) => ({ options: [`Place ${at}`], price: '1.00' }))
  })
  const prices = new Map(made.variants.map(({ id }) => [id, '2.00']))
  const there = async () => {
    const found = (await control<PlatformProduct[]>(sandbox, 'GET', '/products')).find(({ id }) => id === made.id)
    return new Set(found?.variants.map(({ price }) => price))
  }
  // Two calls read the prices, one writes the first 250.
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'unauthorized', next: 1, after: 3 })
  const save = vi.fn(() => Promise.resolve(ok(null)))
  expect(await writePrices(shop.ctx, made.id, prices, save)).toMatchObject({ ok: false })
  expect(await there()).toEqual(new Set(['1.00']))
  expect(save).not.toHaveBeenCalled()
  expect(await writePrices(shop.ctx, made.id, prices, save)).toMatchObject({ ok: true })
  expect(await there()).toEqual(new Set(['2.00']))
  await control(sandbox, 'DELETE', `/products/${made.id}`, { silent: true })
})

test('the platform’s refusal reaches the administrator in its words', async () => {
  await control(sandbox, 'DELETE', `/products/${demoPlans[2]?.id ?? ''}`, { silent: true })
  const gone = demoPlans[2] ?? fail()
  const lost = await addProduct(shop.ctx.db, { platformId: gone.id }, [{ platformId: gone.variants[0]?.id ?? '' }])
  const [variant] = lost.variants
  const reply = await admin.put(`${catalog.products.path}${lost.id}/`, {
    shopify_product_id: gone.id,
    product_name: 'Gone',
    variants: [
      { id: variant?.id, shopify_variant_id: variant?.platformId, variant_price: '9.00', cart_step: 1, proxy_time: 30 }
    ]
  })
  expect(reply).toMatchObject({ status: 503, data: { params: { message: 'Product does not exist' } } })
})

test('a form that did not change a price does not write the old one over the platform’s newer one', async () => {
  const form = await productForm()
  await platformPrices({ [first.id]: '4.40' })
  // No event has come yet, so our price is still the form's.
  expect(await saveProduct({ ...form, product_name: 'Another name' })).toMatchObject({ code: 2000 })
  expect(await priceThere(first.id)).toBe('4.40')
  await readPrices(shop.ctx)
  expect(await pricesHere()).toEqual(['4.40', '2.02'])
  // An older form is stale: it gets the changes, and nothing is written.
  expect(await saveProduct(form)).toMatchObject({ status: 409 })
  expect(await saveProduct(withPrice(form, '2.50'))).toMatchObject({ status: 409 })
  expect(await priceThere(first.id)).toBe('4.40')
  expect(await pricesHere()).toEqual(['4.40', '2.02'])
})

test('what would be refused here changes no price there', async () => {
  const form = withPrice(await productForm(), '3.30')
  const unknownGroup = form.variants.map((variant, at) => (at === 0 ? { ...variant, server_group: 4_242 } : variant))
  expect(await saveProduct({ ...form, variants: unknownGroup })).toMatchObject({ status: 400 })
  expect(await priceThere(first.id)).toBe('2.20')
})

test('a new product and a new rule have the platform’s prices, not the form’s', async () => {
  const added = demoPlans[4] ?? fail()
  const reply = await admin.post<{ variants: { variant_price: string }[] }>(catalog.products.path, {
    shopify_product_id: added.id,
    product_name: 'New',
    variants: added.variants.map(variant => ({
      shopify_variant_id: variant.id,
      variant_price: '0.01',
      cart_step: variant.cartStep,
      proxy_time: 30
    }))
  })
  expect(reply.data.variants.map(one => one.variant_price)).toEqual(added.variants.map(one => one.price))
  const other = demoRules[1] ?? fail()
  const form = { name: 'Tickets', price: '0.01', description: 'd', acl_value: 'tickets.example' }
  expect(await admin.post('/api/servers/acls/', { ...form, shopify_variant_id: other.variantId })).toMatchObject({
    code: 2000,
    data: { price: other.price }
  })
  expect(await admin.post('/api/servers/acls/', { ...form, name: 'None', shopify_variant_id: '42' })).toMatchObject({
    status: 400,
    data: { errors: { shopify_variant_id: 'The product on the platform has no such variant' } }
  })
})

test('a rule’s price is written to the platform first, and refused in its words', async () => {
  const path = `/api/servers/acls/${ruleId}/`
  const form = {
    name: rule.name,
    price: '0.75',
    description: 'shoes',
    acl_value: rule.domains.join('\n'),
    shopify_variant_id: rule.variantId
  }
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'unauthorized', next: 1 })
  expect(await admin.put(path, form)).toMatchObject({ status: 503 })
  expect((await ruleHere())?.price).toBe('0.50')
  expect(await admin.put(path, form)).toMatchObject({ code: 2000, data: { price: '0.75' } })
  expect(await priceThere(rule.variantId)).toBe('0.75')
  // Without a change it does not call the platform, and keeps the newer price there.
  await platformPrices({ [rule.variantId]: '0.80' }, demoRulesProduct.id)
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'error500', next: 1 })
  expect(await admin.put(path, { ...form, description: 'more shoes' })).toMatchObject({ code: 2000 })
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
  expect(await priceThere(rule.variantId)).toBe('0.80')
  await platformPrices({ [rule.variantId]: '0.50' }, demoRulesProduct.id)
})

test('a rule that is refused here, by an overlap or its name, has no price written to the platform', async () => {
  const { db } = shop.ctx
  const input = { description: '', price: '0.10', platformVariantId: '43', name: 'Broad', aclValue: 'broad.test' }
  const broad = await db.transaction(tx => createRule({ tx, now: shop.ctx.now() }, input))
  if (!broad.ok) throw new Error(broad.reason)
  const path = `/api/servers/acls/${ruleId}/`
  const form = {
    name: rule.name,
    price: '0.95',
    description: 'shoes',
    acl_value: [...rule.domains, 'narrow.broad.test'].join('\n'),
    shopify_variant_id: rule.variantId
  }
  const before = await priceThere(rule.variantId)
  expect(await admin.put(path, form)).toMatchObject({ status: 409 })
  const named = { ...form, acl_value: rule.domains.join('\n'), name: 'Broad' }
  expect(await admin.put(path, named)).toMatchObject({ status: 409 })
  expect(await priceThere(rule.variantId)).toBe(before)
  expect(before).not.toBe('0.95')
  // With the decision it is written there and here.
  const decisions = [{ rule_id: broad.rule.id, domain: 'narrow.broad.test', winner: 'narrow' }]
  expect(await admin.put(path, { ...form, decisions })).toMatchObject({ code: 2000, data: { price: '0.95' } })
  expect(await priceThere(rule.variantId)).toBe('0.95')
  await platformPrices({ [rule.variantId]: '0.50' }, demoRulesProduct.id)
})

test('prices without a webhook are followed at the next reading, of plans and of rules', async () => {
  await platformPrices({ [first.id]: '2.75' })
  await platformPrices({ [rule.variantId]: '0.60' }, demoRulesProduct.id)
  await readPrices(shop.ctx)
  expect(await pricesHere()).toEqual(['2.75', '2.02'])
  expect(await ruleHere()).toMatchObject({ price: '0.60', platformProductId: demoRulesProduct.id })
  const entries = await shop.ctx.db.$count(auditLog)
  // A repeat changes nothing.
  await readPrices(shop.ctx)
  expect(await shop.ctx.db.$count(auditLog)).toBe(entries)
  await platformPrices({ [rule.variantId]: '0.50' }, demoRulesProduct.id)
})

test('a platform that does not answer changes no price', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'unauthorized', next: 10 })
  await readPrices(shop.ctx)
  await readProducts(shop.ctx)
  expect(await pricesHere()).toEqual(['2.20', '2.02'])
})

test('a rule is not sold while the platform does not sell it: archived, or deleted with its product', async () => {
  const selection = { product_id: productId, option_selected: { option1: 'New York', option2: 'Single address' } }
  const offered = async () =>
    (await shop.visitor().post<{ acl_id: number }[]>(catalog.ruleStock.path, selection)).data.map(one => one.acl_id)
  const told = (payload: unknown) =>
    command(shop.ctx, SYSTEM, unit => applyProductUpdate(unit, ProductEvent.parse(payload)))
  const event = (change: object) => ({
    id: Number(demoRulesProduct.id),
    title: 'Access rules',
    status: 'active',
    tags: '',
    updated_at: '2026-07-01T10:00:00Z',
    variants: [{ id: Number(rule.variantId), title: rule.name, price: '0.55', position: 1 }],
    ...change
  })
  await told(event({}))
  expect(await ruleHere()).toMatchObject({ price: '0.55', valid: true })
  expect(await offered()).toContain(ruleId)
  await told(event({ status: 'archived', updated_at: '2026-07-01T11:00:00Z' }))
  expect(await offered()).not.toContain(ruleId)
  // An older event that comes late does not restore it.
  await told(event({ updated_at: '2026-07-01T10:30:00Z' }))
  expect(await ruleHere()).toMatchObject({ valid: false })
  await told(event({ updated_at: '2026-07-01T12:00:00Z' }))
  expect(await offered()).toContain(ruleId)
  await told(event({ variants: [], updated_at: '2026-07-01T13:00:00Z' }))
  expect(await offered()).not.toContain(ruleId)
  await told(event({ updated_at: '2026-07-01T14:00:00Z' }))
  await withdraw(demoRulesProduct.id)
  expect(await offered()).not.toContain(ruleId)
})

test('a product of 120 variants is read again after its event, which describes 100 of them', async () => {
  const { db } = shop.ctx
  const made = await control<PlatformProduct>(sandbox, 'POST', '/products', {
    title: 'Many',
    optionNames: ['Plan'],
    variants: Array.from({ length: 120 }, (_, at) => ({ options: [`Plan ${at}`], price: '1.00' }))
  })
  const here = await addProduct(
    db,
    { platformId: made.id, platformUpdatedAt: null },
    made.variants.map(({ id, options: [option1 = ''] }) => ({ platformId: id, option1, price: '1.00' }))
  )
  const last = made.variants.at(-1) ?? fail()
  const changed = await control<PlatformProduct>(sandbox, 'PATCH', `/products/${made.id}`, {
    variants: [{ id: last.id, price: '7.00' }],
    silent: true
  })
  await command(shop.ctx, SYSTEM, unit => applyProductUpdate(unit, ProductEvent.parse(productPayload(changed))))
  const jobs = await db.execute(
    sql`select data from pgboss.job where name = 'read-platform-product' and state = 'created'`
  )
  expect(jobs.rows).toEqual([{ data: { platformId: made.id } }])
  await rereadProduct(shop.ctx, made.id)
  const rows = await db.select().from(variants).where(eq(variants.productId, here.id)).orderBy(variants.id)
  expect(rows.filter(({ deletedAt }) => deletedAt)).toEqual([])
  expect([rows[0]?.price, rows.at(-1)?.price]).toEqual(['1.00', '7.00'])
  await control(sandbox, 'DELETE', `/products/${made.id}`, { silent: true })
  await withdraw(made.id)
})

test('reading all products again brings what lost webhooks would have told, and can be asked for', async () => {
  await control(sandbox, 'PATCH', `/products/${plan.id}`, {
    title: 'Renamed there',
    variants: [{ id: first.id, price: '5.00' }],
    silent: true
  })
  const lost = await addProduct(shop.ctx.db, { platformId: '999001' }, [{ platformId: '99900101' }])
  await readProducts(shop.ctx)
  expect((await productForm()).product_name).toBe('Renamed there')
  expect(await pricesHere()).toEqual(['5.00', '2.02'])
  const [row] = await shop.ctx.db.select().from(products).where(eq(products.id, lost.id))
  expect(row?.valid).toBe(false)
  expect(await admin.post(catalog.rereadProducts.path)).toMatchObject({ code: 2000, data: { status: 'queued' } })
  await vi.waitFor(
    async () => {
      const { rows } = await shop.ctx.db.execute(`select 1 from pgboss.job where name = 'read-platform-products'`)
      expect(rows).toHaveLength(1)
    },
    { timeout: 30_000 }
  )
  const { rows } = await shop.ctx.db.execute(`select actor_name from audit_log where action = 'product.reread'`)
  expect(rows).toHaveLength(1)
})

test('a platform that forgets most of what is on sale at once takes nothing off sale until an administrator asks', async () => {
  const ids = ['999002', '999003', '999004', '999005', '999006']
  for (const platformId of ids) await addProduct(shop.ctx.db, { platformId }, [{ platformId: `${platformId}01` }])
  const onSale = async () => {
    const rows = await shop.ctx.db.select().from(products).where(inArray(products.platformId, ids))
    return rows.filter(row => row.valid).length
  }
  await readProducts(shop.ctx)
  await readPrices(shop.ctx)
  expect(await onSale()).toBe(5)
  for (const name of ['products', 'prices'] as const)
    expect((await readCheck(shop.ctx.db, name))?.result).toMatchObject({ error: expect.stringContaining('off sale') })
  await readProducts(shop.ctx, { asked: true })
  expect(await onSale()).toBe(0)
  expect((await readCheck(shop.ctx.db, 'products'))?.result).not.toHaveProperty('error')
})

test('without a platform the form’s price stands', async () => {
  const form = withPrice(await productForm(), '1.10')
  await writeSettings(shop.ctx, { shopify_shop_url: '' })
  expect(await saveProduct(form)).toMatchObject({ code: 2000 })
  expect(await pricesHere()).toEqual(['1.10', '2.02'])
})
