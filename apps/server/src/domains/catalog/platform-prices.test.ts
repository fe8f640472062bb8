import { routes } from '@netlet/contract'
import { eq, inArray } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { demoPlans, demoRules, demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { ProductEvent } from '../../integrations/shopify/index.ts'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import type { TestClient } from '../../testing/client.ts'
import { command } from '../../infra/command.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { inventoryRoutes, createRule } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { applyProductUpdate, catalogJobs, catalogRoutes, rulePrices, withdrawProduct } from './index.ts'
import { addGroup, addProduct } from './products.fixture.ts'
import { readCheck } from '../commerce/index.ts'
import { comparePrices } from './price-drift.ts'
import { readPrices, readProducts } from './read-platform.ts'
import { products, variants } from './tables.ts'

const { catalog } = routes
const plan = demoPlans[0] ?? fail()
const [first, second] = [plan.variants[0] ?? fail(), plan.variants[1] ?? fail()]
const rule = demoRules[0] ?? fail()

let shop: TestShop
let admin: TestClient
let sandbox: Sandbox
let dataDir: string
let groupId: number
let productId: number
let ruleId: number

function fail(): never {
  throw new Error('the demo has no such thing')
}

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx, app) => {
      catalogRoutes(mount, ctx, { app })
      inventoryRoutes(mount, ctx, { onRulesChanged: () => undefined, prices: rulePrices })
    },
    queues: catalogJobs.map(job => job.queue)
  })
  admin = await shop.admin()
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  ;({ groupId } = await addGroup(shop.ctx.db, [{ cidr: '10.2.0.0/24' }]))
})

/** What a test begins with: one plan in two variants and one rule, at the platform's prices. */
beforeEach(async () => {
  const { db } = shop.ctx
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret
  })
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
  await platformPrices({ [first.id]: '2.20', [second.id]: '2.02' })
  await db.update(products).set({ deletedAt: new Date(), active: false })
  await db.update(variants).set({ deletedAt: new Date() })
  await db.update(aclRules).set({ deletedAt: new Date() })
  const product = await addProduct(db, { platformId: plan.id, name: plan.title }, [
    { platformId: first.id, option1: 'New York', option2: 'Single address', price: '2.20', serverGroupId: groupId },
    { platformId: second.id, option1: 'New York', option2: 'Block of 8', price: '2.02', cartStep: 8 }
  ])
  productId = product.id
  const made = await command(shop.ctx, SYSTEM, unit =>
    createRule(unit, {
      name: rule.name,
      description: 'shoes',
      price: rule.price,
      platformVariantId: rule.variantId,
      aclValue: rule.domains.join('\n')
    })
  )
  if (!made.ok) throw new Error(made.reason)
  ruleId = made.rule.id
})

afterAll(async () => {
  await shop?.close()
  await sandbox?.close()
  await removeDataDir(dataDir)
})

type PlatformRow = { id: string; variants: { id: string; price: string }[] }

/** Gives variants other prices on the platform, of which no webhook tells. */
async function platformPrices(prices: Record<string, string>, of = plan.id) {
  const changed = Object.entries(prices).map(([id, price]) => ({ id, price }))
  await control(sandbox, 'PATCH', `/products/${of}`, { variants: changed, silent: true })
}
async function priceThere(variantId: string): Promise<string | undefined> {
  const all = await control<PlatformRow[]>(sandbox, 'GET', '/products')
  return all.flatMap(product => product.variants).find(variant => variant.id === variantId)?.price
}
const pricesHere = async () => {
  const rows = await shop.ctx.db.select().from(variants).where(eq(variants.productId, productId)).orderBy(variants.id)
  return rows.filter(row => row.deletedAt === null).map(row => row.price)
}
const ruleHere = async () => (await shop.ctx.db.select().from(aclRules).where(eq(aclRules.id, ruleId)))[0]

type Form = {
  version?: string
  shopify_product_id: string
  product_name: string
  product_desc: string
  variants: Record<string, unknown>[]
}
/** The product as an administrator's form sends it back. */
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
  ['error500', 'has a fault of its own']
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
  // Nothing has told us yet: here the price is still the one that the form shows.
  expect(await saveProduct({ ...form, product_name: 'Another name' })).toMatchObject({ code: 2000 })
  expect(await priceThere(first.id)).toBe('4.40')
  await readPrices(shop.ctx)
  expect(await pricesHere()).toEqual(['4.40', '2.02'])
  // A form from before that is stale: it is shown what changed, and nothing is written.
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

test('a new product and a new rule have the platform’s prices, whatever the form says', async () => {
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
    data: { errors: { shopify_variant_id: "The platform's product has no variant like this" } }
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
  // Unchanged, it asks the platform for nothing, and leaves what is newer there.
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
  const broad = await db.transaction(tx => createRule({ tx }, input))
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
  // Decided, it is written there and here.
  const decisions = [{ rule_id: broad.rule.id, domain: 'narrow.broad.test', winner: 'narrow' }]
  expect(await admin.put(path, { ...form, decisions })).toMatchObject({ code: 2000, data: { price: '0.95' } })
  expect(await priceThere(rule.variantId)).toBe('0.95')
  await platformPrices({ [rule.variantId]: '0.50' }, demoRulesProduct.id)
})

test('prices that no webhook told of are followed at the next reading, of plans and of rules', async () => {
  await platformPrices({ [first.id]: '2.75' })
  await platformPrices({ [rule.variantId]: '0.60' }, demoRulesProduct.id)
  await readPrices(shop.ctx)
  expect(await pricesHere()).toEqual(['2.75', '2.02'])
  expect(await ruleHere()).toMatchObject({ price: '0.60', platformProductId: demoRulesProduct.id })
  const entries = await shop.ctx.db.$count(auditLog)
  // Repeated, it has nothing to do.
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

type Drift = { id: number; kind: string; name: string; price: string; platform_price: string; since: string }
const drifts = async () => (await admin.get<{ data: Drift[] }>(catalog.priceDrift.path)).data.data

test('prices that differ are listed with their two ways out', async () => {
  await platformPrices({ [first.id]: '2.75', [second.id]: '9.00' })
  await platformPrices({ [rule.variantId]: '0.60' }, demoRulesProduct.id)
  await comparePrices(shop.ctx)
  const found = await drifts()
  expect(found.toReversed()).toMatchObject([
    { kind: 'variant', price: '2.20', platform_price: '2.75' },
    { kind: 'variant', price: '2.02', platform_price: '9.00' },
    { kind: 'rule', name: rule.name, price: '0.50', platform_price: '0.60' }
  ])
  // Seen again, it is as old as before.
  await comparePrices(shop.ctx)
  expect((await drifts()).map(drift => drift.since)).toEqual(found.map(drift => drift.since))

  const [ofRule, ofSecond, ofFirst] = found as [Drift, Drift, Drift]
  expect(await admin.post(`${catalog.priceDrift.path}${ofFirst.id}/take/`)).toMatchObject({ code: 2000 })
  expect(await pricesHere()).toEqual(['2.75', '2.02'])
  expect(await admin.post(`${catalog.priceDrift.path}${ofSecond.id}/write/`)).toMatchObject({ code: 2000 })
  expect(await priceThere(second.id)).toBe('2.02')
  expect(await admin.post(`${catalog.priceDrift.path}${ofRule.id}/take/`)).toMatchObject({ code: 2000 })
  expect((await ruleHere())?.price).toBe('0.60')
  expect(await drifts()).toEqual([])
  expect(await admin.post(`${catalog.priceDrift.path}${ofRule.id}/take/`)).toMatchObject({ status: 404 })
  const actions = (await shop.ctx.db.select().from(auditLog)).map(entry => entry.action)
  expect(actions).toEqual(expect.arrayContaining(['product.take_price', 'product.write_price', 'acl_rule.take_price']))
  await platformPrices({ [rule.variantId]: '0.50' }, demoRulesProduct.id)
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
  // An older event that comes late does not bring it back.
  await told(event({ updated_at: '2026-07-01T10:30:00Z' }))
  expect(await ruleHere()).toMatchObject({ valid: false })
  await told(event({ updated_at: '2026-07-01T12:00:00Z' }))
  expect(await offered()).toContain(ruleId)
  await told(event({ variants: [], updated_at: '2026-07-01T13:00:00Z' }))
  expect(await offered()).not.toContain(ruleId)
  await told(event({ updated_at: '2026-07-01T14:00:00Z' }))
  await command(shop.ctx, SYSTEM, unit => withdrawProduct(unit, { id: demoRulesProduct.id }))
  expect(await offered()).not.toContain(ruleId)
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
  await vi.waitFor(async () => {
    const { rows } = await shop.ctx.db.execute(`select 1 from pgboss.job where name = 'read-platform-products'`)
    expect(rows).toHaveLength(1)
  })
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
