import { routes, type PlatformProduct } from '@netlet/contract'
import { desc, eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import { openCatalogue, type Catalogue } from './calls.fixture.ts'
import { startPlatform, type Platform } from './platform.fixture.ts'
import { addGroup, addProduct, addRule } from './products.fixture.ts'
import { products, tags, variants } from './tables.ts'

const { catalog } = routes
const admin = 'admin' as const

let app: Catalogue
let platform: Platform
let groupId: number
let smallGroup: number

beforeAll(async () => {
  app = await openCatalogue()
  platform = await startPlatform(app.ctx)
  ;({ groupId } = await addGroup(app.ctx.db, [{ cidr: '10.2.0.0/24' }]))
  ;({ groupId: smallGroup } = await addGroup(app.ctx.db, [{ cidr: '10.3.0.0/28' }]))
})

beforeEach(() => platform.connect())

afterAll(async () => {
  await app.close()
  await platform.close()
})

/** A product that was not added yet, with at least this many variants. */
async function platformProduct(atLeast = 1): Promise<PlatformProduct> {
  const { data } = await app.call(catalog.platformProducts, { as: admin })
  const product = data.find(one => one.variants.length >= atLeast)
  if (!product) throw new Error('nothing left on the platform')
  return product
}

const formOf = (product: PlatformProduct, change: { cart_step?: 1 | 8 | 32; server_group?: number } = {}) => ({
  shopify_product_id: product.shopify_product_id,
  product_name: product.product_name,
  product_desc: product.product_desc,
  product_collections: product.product_collections.map(collection => collection.id),
  product_tags: product.product_tags.map(tag => tag.id),
  variants: product.variants.map(variant => ({
    ...variant,
    cart_step: 8 as 1 | 8 | 32,
    proxy_time: 30,
    server_group: groupId,
    ...change
  }))
})

const create = (body: ReturnType<typeof formOf>) => app.call(catalog.createProduct, { as: admin, body })
const lastAudit = async () => {
  const [entry] = await app.ctx.db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1)
  return entry
}

test('everything here is for administrators', async () => {
  const customer = 'customer' as const
  const product = await platformProduct()
  for (const as of [undefined, customer]) {
    const status = as ? 403 : 401
    const who = as ? { as } : {}
    const params = { id: 1 }
    const answers = [
      await app.call(catalog.platformProducts, who),
      await app.call(catalog.createProduct, { ...who, body: formOf(product) }),
      await app.call(catalog.updateProduct, { ...who, params, body: formOf(product) }),
      await app.call(catalog.deleteProduct, { ...who, params }),
      await app.call(catalog.syncCollections, who),
      await app.call(catalog.updateCollection, { ...who, params, body: { collection_name: 'x' } }),
      await app.call(catalog.deleteCollection, { ...who, params }),
      await app.call(catalog.syncTags, who),
      await app.call(catalog.updateTag, { ...who, params, body: { tag_name: 'x' } }),
      await app.call(catalog.deleteTag, { ...who, params })
    ]
    expect(answers.map(answer => answer.status)).toEqual(answers.map(() => status))
  }
})

test('a platform that does not answer is a 503 with words for the operator, and changes nothing', async () => {
  await app.call(catalog.syncTags, { as: admin })
  const before = await app.ctx.db.select().from(tags)
  const product = await platformProduct()
  await platform.connect('http://127.0.0.1:9')
  for (const reply of [
    await app.call(catalog.syncCollections, { as: admin }),
    await app.call(catalog.syncTags, { as: admin }),
    await create(formOf(product))
  ]) {
    expect(reply.status).toBe(503)
    expect(reply.msg).toContain('cannot be reached')
    expect(reply.data).toMatchObject({
      reason: 'platform_unavailable',
      params: { message: expect.stringContaining('cannot be reached') }
    })
  }
  expect(await app.call(catalog.platformProducts, { as: admin })).toMatchObject({
    status: 503,
    msg: 'Failed to obtain data, please try again'
  })
  await platform.connect('')
  expect(await app.call(catalog.syncTags, { as: admin })).toMatchObject({
    status: 503,
    msg: 'The e-commerce platform is not configured. Set it up under Web Settings.'
  })
  expect(await app.ctx.db.select().from(tags)).toEqual(before)
})

test('a product is added once, with the options that the platform gives its variants, and shows at once', async () => {
  await app.call(catalog.syncTags, { as: admin })
  await app.call(catalog.syncCollections, { as: admin })
  const product = await platformProduct()
  const search = { query: { search: product.product_name } }
  expect((await app.call(catalog.products, search)).data.total).toBe(0)

  const form = formOf(product)
  const added = await create(form)
  expect(added.code).toBe(2000)
  expect(new Set(added.data.product_tags.map(tag => tag.id))).toEqual(new Set(form.product_tags))
  expect(added.data.variant_options).toEqual(product.variant_options)
  expect(added.data.variants.map(one => [one.variant_name, one.variant_price, one.server_group?.id])).toEqual(
    product.variants.map(one => [one.variant_name, one.variant_price, groupId])
  )
  expect(await lastAudit()).toMatchObject({ action: 'product.create', targetId: String(added.data.id) })
  expect((await app.call(catalog.products, search)).data.total).toBe(1)

  expect(await create(form)).toMatchObject({ status: 409, msg: 'This product has already been added' })
  const left = await app.call(catalog.platformProducts, { as: admin })
  expect(left.data.some(one => one.shopify_product_id === product.shopify_product_id)).toBe(false)

  await app.call(catalog.deleteProduct, { as: admin, params: { id: added.data.id } })
  expect((await app.call(catalog.products, search)).data.total).toBe(0)
  expect((await create(form)).code).toBe(2000)
})

test('two administrators add the same product at once: one of them does', async () => {
  const form = formOf(await platformProduct())
  const codes = (await Promise.all([create(form), create(form)])).map(reply => reply.code)
  expect(codes.filter(code => code === 2000)).toHaveLength(1)
  expect(codes.filter(code => code === 409)).toHaveLength(1)
})

test('variant dialog: a product is refused with the field that is wrong', async () => {
  const product = await platformProduct()
  const form = formOf(product)
  const [one] = form.variants
  if (!one) throw new Error('no variant')
  const withFirst = (change: Record<string, unknown>) => ({ ...form, variants: [{ ...one, ...change }] })
  const cases: [body: typeof form, field: string, msg: string][] = [
    [withFirst({ cart_step: 4 }), 'variants.0.cart_step', 'Must be one of 1, 8, 16, 32, 64, 128, 256'],
    [withFirst({ proxy_time: 0 }), 'variants.0.proxy_time', 'Must be at least 1'],
    [withFirst({ variant_price: '1.999' }), 'variants.0.variant_price', 'Must be an amount with at most 2 decimals'],
    [withFirst({ variant_price: '-1' }), 'variants.0.variant_price', 'Must be an amount with at most 2 decimals'],
    [
      withFirst({ server_group: 424_242 }),
      'variants.0.server_group',
      'Your choice no longer exists. Please choose again.'
    ],
    [
      withFirst({ shopify_variant_id: '1' }),
      'variants.0.shopify_variant_id',
      'The product on the platform has no such variant'
    ],
    [{ ...form, variants: [one, one] }, 'variants.1.shopify_variant_id', 'You can choose each only once'],
    [{ ...form, variants: [] }, 'variants', 'Add at least one variant'],
    [{ ...form, product_tags: [424_242] }, 'product_tags', 'Your choice no longer exists. Please choose again.'],
    [
      { ...form, product_collections: [424_242] },
      'product_collections',
      'Your choice no longer exists. Please choose again.'
    ],
    [{ ...form, product_name: '' }, 'product_name', 'Please enter the product name'],
    [{ ...form, shopify_product_id: '1' }, 'shopify_product_id', 'The e-commerce platform has no product 1.']
  ]
  for (const [body, field, msg] of cases) {
    const refused = await create(body)
    expect(refused).toMatchObject({ status: 400, msg, data: { errors: { [field]: msg } } })
  }
  expect(await create(formOf(product, { cart_step: 32, server_group: smallGroup }))).toMatchObject({
    status: 400,
    msg: 'No address range in this server group can hold a block of this size'
  })
  expect((await platformProduct()).shopify_product_id).toBe(product.shopify_product_id)
})

test('an edit changes, adds and retires variants; step and platform ids of a variant stay', async () => {
  const product = await platformProduct(3)
  const form = formOf(product)
  const [first, second, third] = form.variants
  if (!first || !second || !third) throw new Error('this product has too few variants')
  const added = await create({ ...form, variants: [first, second] })
  const params = { id: added.data.id }
  const [a, b] = added.data.variants
  if (!a || !b) throw new Error('no variants')
  const kept = { ...first, id: a.id, variant_price: '77.10', proxy_time: 60, is_active: false }
  const update = (body: Record<string, unknown>) =>
    app.call(catalog.updateProduct, { as: admin, params, body: { ...form, ...body } })

  const changed = await update({ product_name: 'Another name', variants: [kept, third] })
  expect(changed.data.product_name).toBe('Another name')
  expect(changed.data.variants.map(one => [one.shopify_variant_id, one.variant_price, one.is_active])).toEqual([
    [first.shopify_variant_id, '77.10', false],
    [third.shopify_variant_id, third.variant_price, true]
  ])
  // The retired variant keeps its row for its orders.
  const [retired] = await app.ctx.db.select().from(variants).where(eq(variants.id, b.id))
  expect(retired).toMatchObject({ isActive: false, name: second.variant_name })
  expect(await lastAudit()).toMatchObject({
    action: 'product.edit',
    before: { product_name: product.product_name },
    after: { product_name: 'Another name' }
  })

  const wrong: [Record<string, unknown>, string][] = [
    [{ variants: [{ ...kept, cart_step: 1 }] }, 'You cannot change this. Add another one instead.'],
    [
      { variants: [{ ...kept, shopify_variant_id: second.shopify_variant_id }] },
      'You cannot change this. Add another one instead.'
    ],
    [{ variants: [{ ...kept, id: b.id }] }, 'Your choice no longer exists. Please choose again.'],
    [{ variants: [kept], shopify_product_id: '1' }, 'You cannot change this. Add another one instead.']
  ]
  for (const [body, msg] of wrong) expect(await update(body)).toMatchObject({ status: 400, msg })
  expect((await update({ variants: [{ ...kept, server_group: smallGroup }] })).code).toBe(2000)
  // Its address family may change if the group has such ranges. IPv4 has no other exit addresses.
  expect(await update({ variants: [{ ...kept, egress: 'session' }] })).toMatchObject({
    status: 400,
    data: { errors: { 'variants.0.egress': 'Only IPv6 plans can have rotating or sticky exit addresses' } }
  })
  expect(await update({ variants: [{ ...kept, address_family: 'ipv6' }] })).toMatchObject({
    status: 400,
    data: { errors: { 'variants.0.cart_step': 'No address range in this server group can hold a block of this size' } }
  })
  const { groupId: sixGroup } = await addGroup(app.ctx.db, [{ cidr: '2001:db8:40::/56' }])
  const six = { ...kept, server_group: sixGroup, address_family: 'ipv6' as const, egress: 'session' as const }
  const [sold] = (await update({ variants: [six] })).data.variants
  expect([sold?.address_family, sold?.egress]).toEqual(['ipv6', 'session'])
  const [same] = (await update({ variants: [{ ...kept, server_group: sixGroup }] })).data.variants
  expect([same?.address_family, same?.egress]).toEqual(['ipv6', 'session'])
  const four = { ...kept, server_group: smallGroup, address_family: 'ipv4' as const }
  expect((await update({ variants: [four] })).status).toBe(400)
  expect((await update({ variants: [{ ...four, egress: 'fixed' }] })).data.variants).toMatchObject([
    { address_family: 'ipv4', egress: 'fixed' }
  ])
  // A program that does not know limits leaves them unchanged; null removes them.
  const limited = { traffic_gb: 5, mbps: 20 }
  expect((await update({ variants: [{ ...kept, ...limited }] })).data.variants[0]).toMatchObject(limited)
  expect((await update({ variants: [kept] })).data.variants[0]).toMatchObject({ ...limited, connections: null })
  const free = await update({ variants: [{ ...kept, mbps: null }] })
  expect(free.data.variants[0]).toMatchObject({ traffic_gb: 5, mbps: null })
  const away = { as: admin, params: { id: 424_242 }, body: { ...form, variants: [kept] } }
  expect((await app.call(catalog.updateProduct, away)).status).toBe(404)
  // A variant that was retired can come back as a new row.
  expect((await update({ variants: [kept, second] })).data.variants).toHaveLength(2)
})

test('what pays for an access rule is not offered as a product', async () => {
  const { data: offered } = await app.call(catalog.platformProducts, { as: admin })
  const [rules, ...plans] = offered
  const platformVariantId = rules?.variants.at(-1)?.shopify_variant_id
  if (!platformVariantId) throw new Error('nothing left on the platform')
  const rule = await addRule(app.ctx.db, '1.00', 'pays.example')
  await app.ctx.db.update(aclRules).set({ platformVariantId }).where(eq(aclRules.id, rule))
  expect((await app.call(catalog.platformProducts, { as: admin })).data).toEqual(plans)
})

test('a variant whose platform id another product holds is refused, not an error', async () => {
  const product = await platformProduct()
  const form = formOf(product)
  const [one] = form.variants
  if (!one) throw new Error('no variant')
  await addProduct(app.ctx.db, { active: false }, [{ platformId: one.shopify_variant_id }])
  expect(await create(form)).toMatchObject({ status: 409 })
  const rows = await app.ctx.db.select().from(products).where(eq(products.platformId, product.shopify_product_id))
  expect(rows).toEqual([])
})
