import { routes } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openCatalogue, type Catalogue } from './calls.fixture.ts'
import { findVariant, priceOneAddress } from './index.ts'
import { addCollection, addGroup, addProduct, addRule, addTag } from './products.fixture.ts'
import { aclRules } from '../inventory/tables.ts'
import { products } from './tables.ts'

const { catalog } = routes
const admin = 'admin' as const
const customer = 'customer' as const

let app: Catalogue
let cheap: number
let dear: number
let groupId: number
let isp: number
let social: number
let plan: Awaited<ReturnType<typeof addProduct>>
let hidden: Awaited<ReturnType<typeof addProduct>>

/** How many statements `work` sends to the database. */
async function statements(work: () => Promise<unknown>): Promise<number> {
  const sent = vi.spyOn(app.ctx.db.$client, 'query')
  try {
    await work()
    return sent.mock.calls.length
  } finally {
    sent.mockRestore()
  }
}

beforeAll(async () => {
  app = await openCatalogue()
  const { db } = app.ctx
  cheap = await addRule(db, '0.10', 'cheap.example')
  dear = await addRule(db, '1.35', 'dear.example')
  ;({ groupId } = await addGroup(db, [{ cidr: '10.1.0.0/26' }, { cidr: '10.1.1.0/26', excludedRules: [dear] }]))
  isp = await addCollection(db, 'ISP')
  social = await addTag(db, 'Social')
  const nameless = await addTag(db, '')
  plan = await addProduct(
    db,
    { name: 'Metro 100%_plan' },
    [
      { serverGroupId: groupId, cartStep: 8, price: '2.20', option1: 'London' },
      { serverGroupId: groupId, cartStep: 1, price: '1.95', option1: 'Tokyo', option2: 'Week' },
      { serverGroupId: groupId, price: '0.50', option1: 'Rome', isActive: false },
      { price: '9.00', option1: 'Oslo' }
    ],
    { collectionIds: [isp], tagIds: [social, nameless] }
  )
  hidden = await addProduct(db, { name: 'Not offered', active: false }, [{ serverGroupId: groupId }], {
    collectionIds: [isp]
  })
  await addProduct(db, { name: 'Gone from the platform', valid: false }, [{ serverGroupId: groupId }])
  await addProduct(db, { name: 'Nothing to choose' }, [{ serverGroupId: groupId, isActive: false }])
})

afterAll(() => app.close())

const names = (data: { data: { product_name: string }[] }) => data.data.map(product => product.product_name)

test('visitors and customers see what is on sale, without its server groups', async () => {
  for (const as of [undefined, customer]) {
    const { data, code } = await app.call(catalog.products, as ? { as } : {})
    expect(code).toBe(2000)
    expect(names(data)).toEqual(['Metro 100%_plan'])
    expect(data.total).toBe(1)
    const [product] = data.data
    expect(product?.lower_price).toBe('1.95')
    expect(product?.variants.map(variant => variant.variant_option1)).toEqual(['London', 'Tokyo', 'Oslo'])
    expect(product?.variants.map(variant => variant.server_group)).toEqual([null, null, null])
    // Two ranges of 64, one of which never sells the expensive rule, so the cheap one has the most.
    expect(product?.variants.map(variant => variant.variant_stock)).toEqual([128, 128, 0])
    expect(product?.product_tags).toEqual([{ id: social, tag_name: 'Social' }])
    expect(product?.product_collections).toEqual([{ id: isp, collection_name: 'ISP' }])
    expect(product?.variant_options).toEqual([
      { option_name: 'Location', option_values: [{ option_value: 'London' }, { option_value: 'Tokyo' }] }
    ])
  }
})

test('each plan tells the rules that have addresses for it, and its price with the cheapest one', async () => {
  const plans = async () => {
    // An administrator's list is not cached.
    const { data } = await app.call(catalog.products, { as: admin, query: { search: '100%_plan' } })
    const all = data.data.flatMap(({ variants }) => variants)
    return Object.fromEntries(
      all.map(({ variant_option1, acl_ids, from_price }) => [variant_option1, [acl_ids, from_price]])
    )
  }
  const both = [cheap, dear]
  expect(await plans()).toMatchObject({ London: [both, '2.30'], Tokyo: [both, '2.05'], Oslo: [[], null] })
  const { db } = app.ctx
  const ofCheap = eq(aclRules.id, cheap)
  await db.update(aclRules).set({ platformStock: 'sold_out' }).where(ofCheap)
  try {
    expect(await plans()).toMatchObject({ London: [[dear], '3.55'], Tokyo: [[dear], '3.30'], Oslo: [[], null] })
  } finally {
    await db.update(aclRules).set({ platformStock: 'none' }).where(ofCheap)
  }
})

test('administrators see everything, newest first, with the server group', async () => {
  const { data } = await app.call(catalog.products, { as: admin })
  expect(names(data)).toEqual(['Nothing to choose', 'Gone from the platform', 'Not offered', 'Metro 100%_plan'])
  const [, , , metro] = data.data
  expect(metro?.variants).toHaveLength(4)
  expect(metro?.variants[0]?.server_group).toEqual({ id: groupId, name: expect.any(String) })
  expect(metro?.lower_price).toBe('0.50')
})

test('products are found by collection, tag, id and text taken literally', async () => {
  const found = async (query: Record<string, string>) => names((await app.call(catalog.products, { query })).data)
  expect(await found({ collection: String(isp) })).toEqual(['Metro 100%_plan'])
  expect(await found({ collection: '999' })).toEqual([])
  expect(await found({ tags: `999,${social}` })).toEqual(['Metro 100%_plan'])
  expect(await found({ tags: '999' })).toEqual([])
  expect(await found({ id: String(plan.id) })).toEqual(['Metro 100%_plan'])
  expect(await found({ id: String(hidden.id) })).toEqual([])
  expect(await found({ search: '0%_PL' })).toEqual(['Metro 100%_plan'])
  expect(await found({ search: '0__pl' })).toEqual([])
})

test('a page beyond the end is empty and still tells the total; limits are checked', async () => {
  const { data } = await app.call(catalog.products, { query: { limit: '5', offset: '50' } })
  expect(data).toMatchObject({ data: [], total: 1, limit: 5, offset: 50 })
  for (const limit of ['0', '10001', '-1', '1.5', 'x'])
    expect((await app.call(catalog.products, { query: { limit } })).status).toBe(400)
})

test('recommended are the products on sale with any of the tags; at least one tag is asked for', async () => {
  const { data } = await app.call(catalog.recommended, { query: { tags: `${social}` } })
  expect(data.map(product => product.product_name)).toEqual(['Metro 100%_plan'])
  for (const query of [{ tags: '' }, {}] as Record<string, string>[]) {
    const refused = await app.call(catalog.recommended, { query })
    expect(refused).toMatchObject({ status: 400, msg: 'Please select a product' })
  }
})

test('collections count what the viewer finds in them; nameless tags are hidden', async () => {
  expect((await app.call(catalog.collections)).data.data).toMatchObject([{ id: isp, product_count: 1 }])
  expect((await app.call(catalog.collections, { as: admin })).data.data).toMatchObject([{ id: isp, product_count: 2 }])
  for (const as of [undefined, admin]) {
    const { data } = await app.call(catalog.tags, as ? { as } : {})
    expect(data).toMatchObject({ data: [{ id: social, tag_name: 'Social' }], total: 1 })
  }
})

test('a list takes as many statements for 60 products as for one', async () => {
  const query = { limit: '1', search: 'crowd' }
  const one = await statements(() => app.call(catalog.products, { as: admin, query }))
  await Promise.all(
    Array.from({ length: 60 }, (_, at) => addProduct(app.ctx.db, { name: `crowd ${at}`, active: false }, [{}, {}]))
  )
  const few = await statements(() => app.call(catalog.products, { as: admin, query }))
  let listed = 0
  const many = await statements(async () => {
    const { data } = await app.call(catalog.products, { as: admin, query: { ...query, limit: '60' } })
    listed = data.data.length
  })
  expect(listed).toBe(60)
  expect(many).toBe(few)
  // One for the session, two for the page, five for the products' parts.
  expect(few).toBeLessThanOrEqual(8)
  expect(one).toBeLessThanOrEqual(few)
})

test('the shop list comes out of the cache: asked again, no statement', async () => {
  const query = { search: 'Metro', limit: '7' }
  const first = await app.call(catalog.products, { query })
  let second = first
  const sent = await statements(async () => {
    second = await app.call(catalog.products, { query: { limit: '7', search: ' Metro ' } })
  })
  expect(sent).toBe(0)
  expect(second.data).toEqual(first.data)
})

const london = { option1: 'London' }

test('stock and price of each rule; an excluded range is never counted for its rule', async () => {
  const body = { product_id: plan.id, option_selected: london }
  const { data } = await app.call(catalog.ruleStock, { body })
  expect(data).toEqual([
    { acl_id: cheap, acl_name: expect.any(String), price: '0.10', stock: 128, domains: ['cheap.example'] },
    { acl_id: dear, acl_name: expect.any(String), price: '1.35', stock: 64, domains: ['dear.example'] }
  ])
})

test('a selection costs the variant and its rules, exactly, and has the stock of all of them at once', async () => {
  const body = { product_id: plan.id, option_selected: { ...london, acl_selected: [dear, cheap] } }
  const { data } = await app.call(catalog.variantInfo, { body })
  expect(data).toEqual({
    price: '3.65',
    base_price: '2.20',
    acl_price: '1.45',
    stock: 64,
    cart_step: 8,
    local_variant_id: plan.variants[0]?.id,
    shopify_variant_id: plan.variants[0]?.platformId
  })
})

test('a selection is refused with the reason', async () => {
  const ask = (option_selected: { option1: string; option2?: string; acl_selected: number[] }, product_id = plan.id) =>
    app.call(catalog.variantInfo, { body: { product_id, option_selected } })
  const rules = { acl_selected: [cheap] }
  expect(await ask({ ...london, acl_selected: [] })).toMatchObject({ status: 400, msg: 'Please select' })
  expect(await ask({ ...london, acl_selected: [cheap, cheap] })).toMatchObject({
    status: 400,
    msg: 'You can choose each only once'
  })
  for (const unknown of [424_242, 99_999_999_999])
    expect(await ask({ ...london, acl_selected: [cheap, unknown] })).toMatchObject({
      status: 400,
      msg: 'One of the selected access rules is no longer available. Please select again.'
    })
  const unavailable = { status: 400, msg: 'This plan is not available. Please choose another one.' }
  expect(await ask({ option1: 'Atlantis', ...rules })).toMatchObject(unavailable)
  expect(await ask({ option1: 'Tokyo', ...rules })).toMatchObject(unavailable)
  expect(await ask({ option1: 'Rome', ...rules })).toMatchObject(unavailable)
  expect(await ask({ option1: 'Oslo', ...rules })).toMatchObject(unavailable)
  expect(await ask({ option1: 'place 0', ...rules }, hidden.id)).toMatchObject(unavailable)
  expect(await ask({ ...london, ...rules }, 999_999_999_999)).toMatchObject(unavailable)
})

test('a checkout gets what it has to remember of the variant', async () => {
  const { db } = app.ctx
  const options = { option1: 'Tokyo', option2: 'Week', option3: '' }
  const found = await findVariant(db, { productId: plan.id, options })
  expect(found).toMatchObject({
    ok: true,
    data: { productName: 'Metro 100%_plan', groupId, step: 1, proxyTime: 30, price: '1.95' }
  })
  const priced = await priceOneAddress(db, { productId: plan.id, options, rules: [dear, cheap] })
  expect(priced).toMatchObject({ ok: true, data: { rules: [cheap, dear], price: '3.40', aclPrice: '1.45' } })
})

test('a product that leaves the platform is not sold', async () => {
  const { db } = app.ctx
  const gone = await addProduct(db, {}, [{ serverGroupId: groupId }])
  const ask = { productId: gone.id, options: { option1: 'place 0', option2: '', option3: '' } }
  expect((await findVariant(db, ask)).ok).toBe(true)
  await db.update(products).set({ valid: false }).where(eq(products.id, gone.id))
  expect(await findVariant(db, ask)).toMatchObject({ ok: false, reason: 'unknown_variant' })
  await db.update(products).set({ active: false }).where(eq(products.id, gone.id))
})
