import { routes } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoPlans } from '../../../../sandbox/src/shopify/catalogue.ts'
import { openCatalogue, type Catalogue } from './calls.fixture.ts'
import { startPlatform, type Platform } from './platform.fixture.ts'
import { addGroup, addProduct, addRule } from './products.fixture.ts'
import { priceDrifts, products } from './tables.ts'
import { addRow } from '../../testing/rows.ts'

const { catalog } = routes
const admin = 'admin' as const

let app: Catalogue
let platform: Platform

beforeAll(async () => {
  app = await openCatalogue()
  platform = await startPlatform(app.ctx)
})

afterAll(async () => {
  await app.close()
  await platform.close()
})
const idsOf = async (query: Record<string, string>, as?: 'admin') =>
  (await app.call(catalog.products, { query: { limit: '100', ...query }, as })).data.data.map(({ id }) => id)

test('what a group would have to sell is told by rule, with the largest block it holds', async () => {
  const { db } = app.ctx
  const one = await addRule(db, '1.00', 'one.example')
  const other = await addRule(db, '1.00', 'other.example')
  const { groupId } = await addGroup(db, [{ cidr: '10.40.0.0/27' }, { cidr: '10.40.1.0/28', excludedRules: [other] }])
  const ask = (query: Record<string, string>) => app.call(catalog.groupStock, { as: admin, query })
  const stockOf = async (step: string) => {
    const { data } = await ask({ server_group: String(groupId), cart_step: step })
    return {
      ...data,
      rules: Object.fromEntries(data.rules.map(rule => [rule.acl_id, rule.stock]))
    }
  }
  expect(await stockOf('8')).toEqual({ max_step: 32, stock: 48, rules: { [one]: 48, [other]: 32 } })
  expect(await stockOf('32')).toEqual({ max_step: 32, stock: 32, rules: { [one]: 32, [other]: 32 } })
  expect(await stockOf('64')).toMatchObject({ max_step: 32, stock: 0 })
  expect((await ask({ server_group: '999999', cart_step: '8' })).status).toBe(400)
  expect((await ask({ server_group: String(groupId), cart_step: '7' })).status).toBe(400)
})

test('a product tells administrators which of its prices differ, and that is no edit of it', async () => {
  const { db } = app.ctx
  const { groupId } = await addGroup(db, [{ cidr: '10.41.0.0/28' }])
  const product = await addProduct(db, {}, [{ price: '2.20', serverGroupId: groupId }])
  const [variant] = product.variants
  if (!variant) throw new Error('no variant')
  const read = async (as?: 'admin') =>
    (await app.call(catalog.products, { query: { id: String(product.id) }, as })).data.data[0]
  const before = await read(admin)
  expect(before?.variants[0]?.price_drift).toBeNull()
  expect(await idsOf({ problem: '1' }, admin)).not.toContain(product.id)
  const drift = await addRow(app.ctx, priceDrifts, { variantId: variant.id, platformPrice: '2.40' })
  const after = await read(admin)
  expect(after?.variants[0]?.price_drift).toEqual({ id: drift.id, platform_price: '2.40' })
  expect(after?.version).toBe(before?.version)
  expect(await idsOf({ problem: '1' }, admin)).toContain(product.id)
  expect((await read())?.variants[0]?.price_drift).toBeNull()
})

test('products are found by whether they are active, and by what has to be decided', async () => {
  const { db } = app.ctx
  const { groupId } = await addGroup(db, [{ cidr: '10.42.0.0/28' }])
  const group = { serverGroupId: groupId }
  const fine = await addProduct(db, {}, [group])
  const off = await addProduct(db, { active: false }, [group])
  const withdrawn = await addProduct(db, { valid: false }, [group])
  const changed = await addProduct(db, { oldFlag: true }, [group])
  const nowhere = await addProduct(db, {}, [{ serverGroupId: null }])
  const made = [fine, off, withdrawn, changed, nowhere].map(({ id }) => id)
  const found = async (query: Record<string, string>) => {
    const ids = await idsOf(query, admin)
    return made.filter(id => ids.includes(id))
  }
  expect(await found({ active: '0' })).toEqual([off.id])
  expect(await found({ active: '1' })).toEqual([fine.id, withdrawn.id, changed.id, nowhere.id])
  expect(await found({ problem: '1' })).toEqual([withdrawn.id, changed.id, nowhere.id])
  // Only administrators see problems.
  expect(await idsOf({ problem: '1' })).toEqual(await idsOf({}))
})

test('a product is read as the platform has it now, or the reason why not is given', async () => {
  const { db } = app.ctx
  const [plan] = demoPlans
  if (!plan) throw new Error('the demo has no plan')
  const product = await addProduct(db, { platformId: plan.id }, [{}])
  const ask = (id: number) => app.call(catalog.platformProduct, { as: admin, params: { id } })
  const { data } = await ask(product.id)
  expect(data.shopify_product_id).toBe(plan.id)
  expect(data.variants.map(variant => variant.shopify_variant_id)).toEqual(plan.variants.map(({ id }) => id))
  await db.update(products).set({ platformId: '404404' }).where(eq(products.id, product.id))
  expect((await ask(product.id)).msg).toContain('404404')
  expect((await ask(999_999)).status).toBe(404)
  await platform.connect('http://127.0.0.1:9')
  try {
    expect(await ask(product.id)).toMatchObject({ status: 503, msg: 'Failed to obtain data, please try again' })
  } finally {
    await platform.connect()
  }
})
