import type { AclGroup, AclRule } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { assignCidrs } from './cidr-commands.ts'
import { addGroup, addOrders, addServer, inTransaction } from './inventory.fixture.ts'
import { reserve } from './leasing.ts'
import { inventoryRoutes } from './routes.ts'
import { variantOf } from './rule-calls.fixture.ts'

let world: TestShop
let admin: TestClient
let changes = 0

beforeAll(async () => {
  world = await startTestShop({
    routes: (mount, shop) => inventoryRoutes(mount, shop, { onRulesChanged: () => void changes++ })
  })
  admin = await world.admin()
})

afterAll(() => world?.close())

type Errors = { errors: Record<string, string> }
type Page<T> = { data: T[]; total: number }

const rule = (name: string, more: object = {}) => ({
  name,
  price: '1.5',
  shopify_variant_id: variantOf(name),
  description: 'd',
  acl_value: `${name.toLowerCase()}.example`,
  ...more
})
const addRule = async (name: string) => (await admin.post<AclRule>('/api/servers/acls/', rule(name))).data

describe('access rules', () => {
  test.each([
    ['name', { name: '' }, 'Please enter name'],
    ['price', { price: '1.234' }, 'Please enter price'],
    ['price', { price: undefined }, 'Please enter price'],
    ['shopify_variant_id', { shopify_variant_id: '' }, 'Please enter Shopify Variant Id'],
    ['acl_value', { acl_value: '\n' }, 'Please enter rule'],
    ['description', { description: '' }, 'Please enter description'],
    ['acl_value', { acl_value: 'good.example\nno domain' }, "Line 2: 'no domain' is not a domain, such as example.com"]
  ])('%s: %j is refused', async (field, change, message) => {
    const reply = await admin.post<Errors>('/api/servers/acls/', rule('Form', change))
    expect(reply).toMatchObject({ code: 400, msg: message, data: { errors: { [field]: message } } })
  })

  test('are added, found, edited and deleted; the agents hear of what they deny only', async () => {
    const before = changes
    const made = await addRule('Cars')
    expect(made).toMatchObject({ name: 'Cars', price: '1.50', acl_value: 'cars.example' })
    expect(changes).toBe(before + 1)
    const page = await admin.get<Page<AclRule>>('/api/servers/acls/?limit=500&offset=0&search=CARS.exam')
    expect(page.data).toMatchObject({ total: 1, data: [{ id: made.id }] })
    const path = `/api/servers/acls/${made.id}/`
    expect(await admin.put(path, rule('Cars', { price: 2 }))).toMatchObject({ code: 2000, data: { price: '2.00' } })
    expect(changes).toBe(before + 1)
    expect((await admin.put(path, rule('Cars', { acl_value: 'new.example' }))).code).toBe(2000)
    expect(changes).toBe(before + 2)
    await addRule('Boats')
    expect(await admin.put(path, rule('bOATS'))).toMatchObject({ code: 409, msg: 'This name is already in use' })
    expect((await admin.delete(path)).code).toBe(2000)
    expect(changes).toBe(before + 4)
    expect((await admin.delete(path)).code).toBe(404)
    const actions = await world.ctx.db
      .select({ action: auditLog.action })
      .from(auditLog)
      .where(sql`target_id = ${String(made.id)} and target_type = 'acl_rule'`)
      .orderBy(auditLog.id)
    expect(actions.map(entry => entry.action)).toEqual([
      'acl_rule.create',
      'acl_rule.edit',
      'acl_rule.edit',
      'acl_rule.delete'
    ])
  })

  test('one that is leased is not deleted, and the orders are named', async () => {
    const { db } = world.ctx
    const made = await addRule('Leased')
    const server = await addServer(db, 'leases')
    await inTransaction(db, assignCidrs, server, ['127.80.0.0/28'])
    const groupId = await addGroup(db, 'leases', [server])
    const [orderId = 0] = await addOrders(db, groupId, 1)
    await db.transaction(tx => reserve(tx, { orderId, groupId, step: 1, rules: [made.id], quantity: 1 }))
    expect(await admin.delete(`/api/servers/acls/${made.id}/`)).toMatchObject({
      code: 409,
      msg: `This access rule is still in use by 1 order: #${orderId}`
    })
  })
})

describe('ACL groups', () => {
  const path = '/api/servers/acl-groups/'

  test.each([
    ['name', { name: '', description: 'd', acls: [1] }, 'Please enter group name'],
    ['description', { name: 'g', description: ' ', acls: [1] }, 'Please enter description'],
    ['acls', { name: 'g', description: 'd', acls: [] }, 'Please select acl'],
    ['acls', { name: 'g', description: 'd' }, 'Please select acl'],
    ['acls', { name: 'g', description: 'd', acls: [999_999] }, 'Your choice no longer exists. Please choose again.']
  ])('%s: %j is refused', async (field, form, message) => {
    const reply = await admin.post<Errors>(path, form)
    expect(reply).toMatchObject({ code: 400, msg: message, data: { errors: { [field]: message } } })
  })

  test('are added, found, edited and deleted', async () => {
    const [one, two] = [await addRule('One'), await addRule('Two')]
    const made = await admin.post<AclGroup>(path, { name: 'Group', description: 'some', acls: [two.id, `${one.id}`] })
    expect(made.data.acls).toEqual([
      { id: one.id, name: 'One' },
      { id: two.id, name: 'Two' }
    ])
    expect(await admin.post(path, { name: 'GROUP', description: 'd', acls: [one.id] })).toMatchObject({ code: 409 })
    const edited = await admin.put<AclGroup>(`${path}${made.data.id}/`, {
      name: 'Group',
      description: 'x',
      acls: [two.id]
    })
    expect(edited.data.acls).toEqual([{ id: two.id, name: 'Two' }])
    // A deleted rule is no longer part of it.
    await admin.delete(`/api/servers/acls/${two.id}/`)
    const list = await admin.get<Page<AclGroup>>(`${path}?search=gro`)
    expect(list.data).toMatchObject({ total: 1, data: [{ acls: [] }] })
    expect((await admin.delete(`${path}${made.data.id}/`)).code).toBe(2000)
    expect((await admin.put(`${path}${made.data.id}/`, { name: 'g', description: 'd', acls: [one.id] })).code).toBe(404)
  })
})
