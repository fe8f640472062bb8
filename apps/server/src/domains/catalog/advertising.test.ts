import { routes, type OfferedRule } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { aclRules } from '../inventory/tables.ts'
import { addOrders } from '../inventory/inventory.fixture.ts'
import { activate, reserve } from '../inventory/index.ts'
import { openCatalogue, type Catalogue } from './calls.fixture.ts'
import { addGroup, addProduct, addRule } from './products.fixture.ts'
import { products } from './tables.ts'

const { catalog } = routes
let shop: Catalogue
beforeAll(async () => {
  shop = await openCatalogue()
})
afterAll(() => shop?.close())

/** Direct changes of the database publish no events. */
beforeEach(() => shop.forget())

const rules = async () => (await shop.call(catalog.rules)).data
const cells = async (id: number) => (await shop.call(catalog.occupancy, { params: { id } })).data.cells
const found = (all: OfferedRule[], id: number) => all.find(rule => rule.acl_id === id)

/** Leases addresses as a paid order does. */
async function lease(groupId: number, { step, rule }: { step: 8 | 16 | 64; rule: number }) {
  const { db } = shop.ctx
  const [orderId = 0] = await addOrders(db, groupId, 1)
  await db.transaction(async tx => {
    const got = await reserve(tx, { orderId, groupId, step, quantity: step, rules: [rule] })
    if (!got.ok) throw new Error(got.reason)
    await activate(tx, got.leaseId)
  })
}

test('a rule says how many products on sale have addresses under it, and names its first sites', async () => {
  const { db } = shop.ctx
  const sites = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(name => `${name}.rules.example`)
  const sold = await addRule(db, '0.25', sites.join('\n'))
  const excluded = await addRule(db, '1.00', 'excluded.example')
  const withdrawn = await addRule(db, '1.00', 'withdrawn.example')
  await db.update(aclRules).set({ valid: false }).where(eq(aclRules.id, withdrawn))
  const one = await addGroup(db, [{ cidr: '10.60.0.0/24', excludedRules: [excluded] }])
  const small = await addGroup(db, [{ cidr: '10.60.1.0/29', excludedRules: [excluded] }])
  // Two choices of one product count as one product.
  await addProduct(db, {}, [
    { serverGroupId: one.groupId, cartStep: 8 },
    { serverGroupId: one.groupId, cartStep: 16 }
  ])
  await addProduct(db, {}, [{ serverGroupId: small.groupId, cartStep: 8 }])
  // None of these can be bought.
  await addProduct(db, {}, [{ serverGroupId: small.groupId, cartStep: 256 }])
  await addProduct(db, { active: false }, [{ serverGroupId: one.groupId }])
  await addProduct(db, {}, [{ serverGroupId: one.groupId, isActive: false }])
  await addProduct(db, {}, [{ serverGroupId: null }])

  const all = await rules()
  expect(found(all, sold)).toEqual({
    acl_id: sold,
    acl_name: expect.any(String) as string,
    price: '0.25',
    domains: sites.slice(0, 6),
    domain_count: 8,
    product_count: 2
  })
  expect(found(all, excluded)).toMatchObject({ product_count: 0 })
  // A rule's list of products has exactly the counted ones.
  const listed = async (acl: number) =>
    (await shop.call(catalog.products, { query: { acl: String(acl), limit: '200' } })).data.total
  expect(await listed(sold)).toBe(2)
  expect(await listed(excluded)).toBe(0)
  expect(found(all, withdrawn)).toBeUndefined()
  expect(JSON.stringify(all)).not.toContain('for tests')
})

test('a picture has a cell for each equal block, and neither addresses nor counts', async () => {
  const { db } = shop.ctx
  const rule = await addRule(db, '1.00', 'picture.example')
  const group = await addGroup(db, [{ cidr: '10.61.0.0/24' }, { cidr: '10.61.1.0/26' }])
  const { id } = await addProduct(db, {}, [{ serverGroupId: group.groupId, cartStep: 8 }])
  // 320 addresses in cells of 16, the smallest size.
  expect(await cells(id)).toEqual(Array.from({ length: 20 }, () => 0))
  await lease(group.groupId, { step: 16, rule })
  await lease(group.groupId, { step: 8, rule })
  shop.forget()
  const drawn = await cells(id)
  // One whole cell and a half of another, wherever the inventory puts them.
  expect(drawn.filter(level => level > 0).toSorted((a, b) => a - b)).toEqual([2, 4])
  expect(drawn).toHaveLength(20)
})

test('a first sale in a large cell does not show: cells go by the nearest quarter', async () => {
  const { db } = shop.ctx
  const group = await addGroup(db, [{ cidr: '10.62.0.0/16' }])
  const { id } = await addProduct(db, {}, [{ serverGroupId: group.groupId, cartStep: 8 }])
  const empty = await cells(id)
  // 65,536 addresses in at most 240 cells: of 512.
  expect(empty).toHaveLength(128)
  const rule = await addRule(db, '1.00', 'one.example')
  await lease(group.groupId, { step: 8, rule })
  shop.forget()
  expect(await cells(id)).toEqual(empty)
  await lease(group.groupId, { step: 64, rule })
  shop.forget()
  expect((await cells(id)).filter(level => level > 0)).toEqual([1])
})

test('a picture is of all that a product sells from, each range once, and of its families alone', async () => {
  const { db } = shop.ctx
  const first = await addGroup(db, [{ cidr: '10.63.0.0/24' }, { cidr: '2001:db8:63::/56' }])
  const second = await addGroup(db, [{ cidr: '10.63.1.0/25' }])
  const both = await addProduct(db, {}, [
    { serverGroupId: first.groupId, cartStep: 1 },
    { serverGroupId: first.groupId, cartStep: 8 },
    { serverGroupId: second.groupId }
  ])
  expect(await cells(both.id)).toHaveLength(24)
  const six = await addProduct(db, {}, [{ serverGroupId: first.groupId, addressFamily: 'ipv6' }])
  expect(await cells(six.id)).toHaveLength(16)
})

test('too few addresses make no picture, and what is not sold has none', async () => {
  const { db } = shop.ctx
  const few = await addGroup(db, [{ cidr: '10.64.0.0/29' }])
  const tiny = await addProduct(db, {}, [{ serverGroupId: few.groupId }])
  const nowhere = await addProduct(db, {}, [{ serverGroupId: null }])
  expect(await cells(tiny.id)).toEqual([])
  expect(await cells(nowhere.id)).toEqual([])
  await db.update(products).set({ active: false }).where(eq(products.id, tiny.id))
  for (const id of [tiny.id, 2_000_000_000])
    expect(await shop.call(catalog.occupancy, { params: { id } })).toMatchObject({
      status: 404,
      data: { reason: 'not_found' }
    })
})

test('who asks again within seconds shares the reply, until the shop hears of a change', async () => {
  const { db } = shop.ctx
  const before = await rules()
  const sold = before.reduce((most, rule) => Math.max(most, rule.product_count), 0)
  const added = await addRule(db, '1.00', 'late.example')
  expect(await rules()).toEqual(before)
  shop.forget()
  expect(found(await rules(), added)).toMatchObject({ product_count: sold })
})
