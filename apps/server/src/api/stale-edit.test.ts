import { SECRET_KEPT, type AuditEntry, type Page, type Product } from '@netlet/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variants } from '../domains/catalog/tables.ts'
import { coupons } from '../domains/rewards/tables.ts'
import { HOLDER, KINDS, type Form, type Kind, type Row } from './edited-kinds.fixture.ts'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'
import { addRow } from '../testing/rows.ts'
import { editNow, newKey } from '../testing/asking-once.ts'

let shop: StockedShop
/** Two administrators, each with the same form open. */
let anna: Buyer
let boris: Buyer
let customer: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  anna = await shop.admin()
  boris = await shop.admin()
  customer = await shop.customer({ username: HOLDER })
  await addRow(shop.ctx, coupons, { holderId: customer.user.id, code: 'SPRING', codeType: 1, discount: '1.00' })
  await anna.post('/api/rewards/level_code/', { level: 1, discount: '0.00', code: 'L1', point: 100 })
  await anna.post('/api/servers/acl-groups/', { name: 'all', description: 'All of them', acls: shop.rules })
})
afterAll(() => shop?.close())

async function readRow({ path, which = {} }: Pick<Kind, 'path' | 'which'>): Promise<Row> {
  const { data } = await anna.get<Page<Row>>(`${path}?limit=100`)
  const row = data.data.find(one => Object.entries(which).every(([name, value]) => one[name] === value))
  if (!row) throw new Error(`${path} has no such row`)
  return row
}

describe.each(KINDS)('$name', kind => {
  const { path, form, field, values } = kind
  const save = (who: Buyer, id: number, body: Form) => who.put<Row>(`${path}${id}/`, body)
  /** Forms that change the field of this row, each to another value. */
  const changesOf = (row: Row): Form[] => {
    const opened = form(row)
    const others = values(shop.rules).filter(value => JSON.stringify(value) !== JSON.stringify(opened[field]))
    return others.map(value => ({ ...opened, [field]: value, version: row.version }))
  }

  test('a stale edit shows what changed and changes nothing; on the new version it is saved', async () => {
    const opened = await readRow(kind)
    const [theirs = {}, mine = {}] = changesOf(opened)
    const first = await save(boris, opened.id, theirs)
    expect(first, first.msg).toMatchObject({ code: 2000 })
    const between = await readRow(kind)
    expect(between.version).not.toBe(opened.version)
    expect(first.data.version).toBe(between.version)

    expect(await save(anna, opened.id, mine)).toMatchObject({
      status: 409,
      code: 409,
      msg: 'This has changed since you opened it. Please review it and try again.',
      data: { reason: 'stale', changed: [field], current: between }
    })
    expect(await readRow(kind)).toEqual(between)

    const saved = await save(anna, opened.id, { ...mine, version: between.version })
    expect(saved, saved.msg).toMatchObject({ code: 2000 })
    const after = await readRow(kind)
    expect(after.version).toBe(saved.data.version)
    expect(form(after)[field]).toEqual(mine[field])
  })

  test('of two edits at once of one version one is saved', async () => {
    const opened = await readRow(kind)
    const [one = {}, other = {}] = changesOf(opened)
    const replies = await Promise.all([save(anna, opened.id, one), save(boris, opened.id, other)])
    expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 2000])
    const saved = replies.find(reply => reply.code === 2000)
    const refused = replies.find(reply => reply.code === 409)
    expect(refused?.data).toMatchObject({
      reason: 'stale',
      changed: [field],
      current: { version: saved?.data.version }
    })
    expect((await readRow(kind)).version).toBe(saved?.data.version)
  })

  test('an edit without a version overwrites what is there', async () => {
    const opened = await readRow(kind)
    const { version: _version, ...script } = changesOf(opened)[0] ?? {}
    const saved = await save(anna, opened.id, script)
    expect(saved, saved.msg).toMatchObject({ code: 2000 })
    expect(saved.data.version).not.toBe(opened.version)
  })
})

test('what is saved as it was keeps its version', async () => {
  for (const kind of KINDS) {
    const body = kind.form(await readRow(kind))
    const { id } = await readRow(kind)
    const once = await anna.put<Row>(`${kind.path}${id}/`, body)
    const again = await anna.put<Row>(`${kind.path}${id}/`, { ...body, version: once.data.version })
    expect(again, `${kind.name}: ${again.msg}`).toMatchObject({ code: 2000, data: { version: once.data.version } })
  }
})

test('the audit log has the fields that changed, without versions', async () => {
  const tag = await readRow({ path: '/api/products/product_tags/' })
  await anna.put(`/api/products/product_tags/${tag.id}/`, { tag_name: 'fast', tag_desc: 'Logged' })
  const log = await anna.get<Page<AuditEntry>>('/api/settings/audit_log/?limit=1')
  expect(log.data.data.map(entry => entry.action)).toEqual(['tag.edit'])
  expect(log.data.data[0]?.after).toEqual({
    id: tag.id,
    tag_name: 'fast',
    tag_desc: 'Logged',
    translations: {}
  })
  expect(log.data.data[0]?.before).not.toHaveProperty('version')
})

test('an order changes the stock of a product and the use of a range, not their versions', async () => {
  const { id } = await readRow({ path: '/api/servers/cidrs/' })
  // Only the rule that is bought is in stock, or the other one's figure would be shown.
  const { data: range } = await anna.put<Row>(`/api/servers/cidrs/${id}/`, { exclude_acl: shop.rules.slice(1) })
  const readProduct = async () => {
    // What the stock board knows is too old by now.
    shop.advance(31_000)
    const row = await readRow({ path: '/api/products/products/' })
    return { version: row.version, stock: (row as Row & Product).variants[0]?.variant_stock ?? 0 }
  }
  const before = await readProduct()
  await shop.buy(customer)
  const after = await readProduct()
  expect(after.stock).toBe(before.stock - 8)
  expect(after.version).toBe(before.version)
  expect((await readRow({ path: '/api/servers/cidrs/' })).version).toBe(range.version)
})

test('coins that were spent while the form was open do not come back', async () => {
  const spender = await shop.customer()
  const row = { path: '/api/users/u/', which: { username: spender.user.username } }
  await editNow(anna, spender.user.id, { reward_points_change: 80 })
  const opened = await readRow(row)
  await anna.post('/api/rewards/gift_card/', { mount: '9.00', code: 'NINE', point: 50 })
  expect((await spender.post('/api/rewards/gift_card/exchange/', { mount: '9.00', point: 50 }, newKey())).code).toBe(
    2000
  )
  // An old form that sends all of its fields, and one that names a change.
  const form = { email: 'new@example.com', reward_points: 80, version: opened.version }
  expect(await anna.put(`/api/users/u/${spender.user.id}/`, form)).toMatchObject({
    code: 409,
    data: { reason: 'stale', changed: ['email', 'reward_points'], current: { reward_points: 30 } }
  })
  const change = { reward_points_change: 50, version: opened.version }
  expect(await anna.put(`/api/users/u/${spender.user.id}/`, change)).toMatchObject({
    code: 409,
    data: { reason: 'stale', changed: ['reward_points'] }
  })
  const now = await readRow(row)
  expect(now).toMatchObject({ email: spender.user.email, reward_points: 30 })
  // Sent twice, as by a double click, it counts once.
  const again = { reward_points_change: 50, version: now.version }
  const replies = await Promise.all([1, 2].map(() => anna.put(`/api/users/u/${spender.user.id}/`, again)))
  expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  expect(await readRow(row)).toMatchObject({ reward_points: 80 })
})

test('a ban that was made while a form was open is not undone by it', async () => {
  const victim = await shop.customer()
  const row = { path: '/api/users/u/', which: { username: victim.user.username } }
  const opened = await readRow(row)
  await boris.post(`/api/users/u/${victim.user.id}/baned_user/`)
  const form = { email: 'new@example.com', is_active: true, version: opened.version }
  expect(await anna.put(`/api/users/u/${victim.user.id}/`, form)).toMatchObject({
    code: 409,
    data: { reason: 'stale', changed: ['email', 'is_active'], current: { is_active: false } }
  })
  expect(await readRow(row)).toMatchObject({ is_active: false, email: victim.user.email })
})

test('a variant that was added while a product form was open is not lost', async () => {
  const [kind] = KINDS.filter(one => one.name === 'product')
  if (!kind) throw new Error('no such kind')
  const opened = await readRow(kind)
  const added = { productId: opened.id, platformId: '990011', name: 'Boston', option1: 'Boston', price: '2.00' }
  await addRow(shop.ctx, variants, { ...added, cartStep: 8, serverGroupId: shop.groupId })
  const form = { ...kind.form(opened), product_name: 'Late', version: opened.version }
  const stale = await anna.put(`${kind.path}${opened.id}/`, form)
  expect(stale).toMatchObject({ code: 409, data: { reason: 'stale', changed: ['product_name', 'variants'] } })
  const after = (await readRow(kind)) as Row & Product
  expect(after.variants.map(variant => variant.variant_name)).toEqual(['New York', 'Boston'])
})

test('a range that was added while a server form was open is not lost', async () => {
  const [kind] = KINDS.filter(one => one.name === 'server')
  if (!kind) throw new Error('no such kind')
  const opened = await readRow(kind)
  const form = kind.form(opened) as { cidr: string }
  const theirs = { ...form, cidr: `${form.cidr}\n127.41.0.0/24`, version: opened.version }
  const first = await boris.put<Row>(`${kind.path}${opened.id}/`, theirs)
  expect(first, first.msg).toMatchObject({ code: 2000 })
  const stale = await anna.put(`${kind.path}${opened.id}/`, { ...form, name: 'late', version: opened.version })
  expect(stale).toMatchObject({ code: 409, data: { reason: 'stale' } })
  expect((kind.form(await readRow(kind)) as { cidr: string }).cidr).toContain('127.41.0.0/24')
})

describe('settings', () => {
  const path = '/api/settings/config'
  const read = async () => (await anna.get<Row>(path)).data

  test('all of them have one version', async () => {
    const opened = await read()
    const first = await boris.post<Row>(path, { max_unpaid_orders: 7, version: opened.version })
    expect(first, first.msg).toMatchObject({ code: 2000 })
    const stale = { max_unpaid_orders: 9, billing_rate: opened['billing_rate'], version: opened.version }
    expect(await anna.post(path, stale)).toMatchObject({
      code: 409,
      data: { reason: 'stale', changed: ['max_unpaid_orders'], current: { version: first.data.version } }
    })
    expect(await read()).toEqual(first.data)
    const again = await anna.post(path, { ...stale, version: first.data.version })
    expect(again).toMatchObject({ code: 2000, data: { max_unpaid_orders: 9 } })
  })

  test('of two saves at once of one version one goes through', async () => {
    const { version } = await read()
    const replies = await Promise.all(
      [11, 12].map((max_unpaid_orders, at) => (at === 0 ? anna : boris).post(path, { max_unpaid_orders, version }))
    )
    expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  })

  test('their version tells nothing of the secrets', async () => {
    const before = await read()
    const other = await anna.post<Row>(path, { shopify_app_key: 'another token', version: before.version })
    expect(other.data).toMatchObject({ shopify_app_key: SECRET_KEPT, version: before.version })
  })
})

test('a version is as long as it has to be, and tells those who may not see a code nothing of it', async () => {
  const seen = await readRow({ path: '/api/rewards/level_code/' })
  expect(seen.version).toMatch(/^[\w-]{16}$/)
  const own = async () => (await customer.get<Page<Row>>('/api/rewards/level_code/')).data.data[0]
  const before = await own()
  const { discount, point } = seen
  await anna.put(`/api/rewards/level_code/${seen.id}/`, { discount, point, code: 'OTHER' })
  expect(await own()).toEqual(before)
  expect((await readRow({ path: '/api/rewards/level_code/' })).version).not.toBe(seen.version)
})

test('a version that is none is an older one, and one that is too long is refused as a field', async () => {
  const { id, ...question } = await readRow({ path: '/api/tickets/fqa/' })
  const put = (version: unknown) => anna.put(`/api/tickets/fqa/${id}/`, { ...question, version })
  expect(await put('\0')).toMatchObject({ code: 409, data: { reason: 'stale', changed: [] } })
  expect(await put('')).toMatchObject({ code: 409, data: { reason: 'stale' } })
  expect(await put('x'.repeat(65))).toMatchObject({ code: 400, data: { errors: { version: 'At most 64 characters' } } })
})
