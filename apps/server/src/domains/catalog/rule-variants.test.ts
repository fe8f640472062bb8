import { routes, type AclRule } from '@netlet/contract'
import { and, asc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { demoPlans, demoRules, demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { aclRules } from '../inventory/tables.ts'
import { fail, first, rule, startPriceShop, type PriceShop } from './prices.fixture.ts'

const RULES = routes.inventory.createRule.path
const PRODUCTS = routes.catalog.createProduct.path
const another = demoRules[1] ?? fail()
const free = demoPlans[1] ?? fail()

let prices: PriceShop
let ruleId = 0
beforeAll(async () => {
  prices = await startPriceShop()
})
beforeEach(async () => {
  ;({ ruleId } = await prices.reset())
})
afterAll(() => prices?.close())

const form = (name: string, shopify_variant_id: string) => ({
  name,
  price: '1.00',
  shopify_variant_id,
  description: 'd',
  acl_value: `${name.toLowerCase()}.example`
})
const product = (id: string, variantId: string) => ({
  shopify_product_id: id,
  product_name: 'New',
  variants: [{ shopify_variant_id: variantId, variant_price: '1.00', cart_step: 1, proxy_time: 30 }]
})
const add = (name: string, variantId: string) => prices.admin.post<AclRule>(RULES, form(name, variantId))
const refused = (message: string, field = 'shopify_variant_id') => ({
  status: 409,
  msg: message,
  data: { errors: { [field]: message } }
})
const OF_RULE = `${rule.name} already uses this variant on the platform`
const planName = async () => {
  const { data } = await prices.admin.get<{ data: { product_name: string; variants: { variant_name: string }[] }[] }>(
    routes.catalog.products.path
  )
  return `${data.data[0]?.product_name}: ${data.data[0]?.variants[0]?.variant_name}`
}

test('a second rule is refused the variant of another rule, or of a plan, and is told whose it is', async () => {
  expect(await add('Second', rule.variantId)).toMatchObject(refused(OF_RULE))
  const ofPlan = `${await planName()} already uses this variant on the platform`
  expect(await add('Second', first.id)).toMatchObject(refused(ofPlan))
  const made = await add('Second', another.variantId)
  // The platform's price counts, not the form's.
  expect(made).toMatchObject({ code: 2000, data: { price: another.price } })
  const edit = (variantId: string) =>
    prices.admin.put(`${RULES}${made.data.id}/`, { ...form('Second', variantId), price: made.data.price })
  expect(await edit(rule.variantId)).toMatchObject(refused(OF_RULE))
  expect(await edit(first.id)).toMatchObject(refused(ofPlan))
  expect(await edit(another.variantId)).toMatchObject({ code: 2000 })
})

test('the form of a rule is told the platform’s price before it is saved, or why it cannot be sold as the variant', async () => {
  const path = `${RULES}platform_variant/?shopify_variant_id=`
  expect(await prices.admin.get(path + another.variantId)).toMatchObject({ code: 2000, data: { price: another.price } })
  expect(await prices.admin.get(path + rule.variantId)).toMatchObject(refused(OF_RULE))
  const own = await prices.admin.get(`${path}${rule.variantId}&id=${ruleId}`)
  expect(own).toMatchObject({ code: 2000, data: { price: rule.price } })
  expect(await prices.admin.get(`${path}404`)).toMatchObject({ status: 400 })
})

test('a plan is refused the variant of a rule', async () => {
  const reply = await prices.admin.post(PRODUCTS, product(demoRulesProduct.id, rule.variantId))
  expect(reply).toMatchObject(refused(OF_RULE, 'variants.0.shopify_variant_id'))
})

test('a variant that a deleted rule had is free', async () => {
  expect(await prices.admin.delete(`${RULES}${ruleId}/`)).toMatchObject({ code: 2000 })
  expect(await add('Second', rule.variantId)).toMatchObject({ code: 2000 })
})

test('of two that take one variant at once, rule or plan, one gets it', async () => {
  const codes = async (asked: Promise<{ code: number }>[]) =>
    (await Promise.all(asked)).map(({ code }) => code).toSorted((a, b) => a - b)
  const names = ['One', 'Two', 'Three', 'Four']
  expect(await codes(names.map(name => add(name, another.variantId)))).toEqual([409, 409, 409, 2000])
  const variantId = free.variants[0]?.id ?? ''
  const both = [add('Five', variantId), prices.admin.post(PRODUCTS, product(free.id, variantId))]
  expect(await codes(both)).toEqual([409, 2000])
})

test('rules that shared a variant before stay, can be edited, and are joined by no third one', async () => {
  const { db } = prices.shop.ctx
  const index = sql`drop index acl_rules_variant_key; alter table acl_rules drop column shares_variant`
  await db.execute(index)
  await db.execute(sql`
    insert into acl_rules (name, price, platform_variant_id, acl_value, created_at)
    select 'Twin ' || n, 1, ${rule.variantId}, 'twin.example', now() from generate_series(1, 2) n`)
  for (const statement of migrationStatements('_rule_variants.sql')) await db.execute(sql.raw(statement))
  const rows = await db
    .select({ name: aclRules.name, id: aclRules.id, shares: aclRules.sharesVariant })
    .from(aclRules)
    .where(and(eq(aclRules.platformVariantId, rule.variantId), isNull(aclRules.deletedAt)))
    .orderBy(asc(aclRules.id))
  expect(rows.map(({ name, shares }) => [name, shares])).toEqual([
    [rule.name, false],
    ['Twin 1', true],
    ['Twin 2', true]
  ])
  const [, twin = fail()] = rows
  const edit = (more: object) =>
    prices.admin.put(`${RULES}${twin.id}/`, { ...form('Twin 1', rule.variantId), acl_value: 'twin.example', ...more })
  expect(await edit({ description: 'another' })).toMatchObject({ code: 2000 })
  expect(await add('Third', rule.variantId)).toMatchObject({ status: 409 })
  expect(await edit({ shopify_variant_id: another.variantId, price: another.price })).toMatchObject({ code: 2000 })
  // On its own variant it shares nothing any more, and the database refuses another rule.
  const second = db.execute(sql`
    insert into acl_rules (name, price, platform_variant_id, acl_value, created_at)
    values ('Sly', 1, ${another.variantId}, '', now())`)
  await expect(second).rejects.toMatchObject({ cause: { constraint: 'acl_rules_variant_key' } })
})
