import { OPERATOR_ROLES, type OperatorRole, type User } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startStockedShop, type Buyer, type StockedShop } from '../../api/stocked-shop.fixture.ts'
import { users } from './tables.ts'

const U = '/api/users/u'
const STRONG = 'Other#2026'
let shop: StockedShop
let people: Record<OperatorRole, Buyer>

async function operator(operatorRole: OperatorRole): Promise<Buyer> {
  const buyer = await shop.admin()
  await shop.ctx.db.update(users).set({ operatorRole }).where(eq(users.id, buyer.user.id))
  return buyer
}

beforeAll(async () => {
  shop = await startStockedShop()
  const made = await Promise.all(OPERATOR_ROLES.map(async role => [role, await operator(role)] as const))
  people = Object.fromEntries(made) as Record<OperatorRole, Buyer>
})
afterAll(() => shop?.close())

const userOf = async (id: number) => {
  const list = await people.owner.get<{ data: User[] }>(`${U}/?limit=100`)
  const user = list.data.data.find(one => one.id === id)
  if (!user) throw new Error(`no user ${id}`)
  return user
}
const allowed = { code: 2000 }
const notAllowed = { status: 403, msg: 'Your role does not allow this' }

test('only an owner changes other administrators, whoever else may change users', async () => {
  const customer = await shop.customer()
  for (const target of [people.owner, people.support, people.viewer]) {
    const { id } = target.user
    for (const by of [people.operations, people.support, people.viewer]) {
      if (by === target) continue
      const tried = [
        await by.put(`${U}/${id}/`, { email: 'taken@example.com' }),
        await by.put(`${U}/${id}/`, { password: STRONG }),
        await by.post(`${U}/${id}/change_password/`, { id, password: STRONG }),
        await by.post(`${U}/${id}/baned_user/`, { id }),
        await by.post(`${U}/${id}/unbaned_user/`, { id }),
        await by.delete(`${U}/${id}/`)
      ]
      for (const reply of tried) expect(reply).toMatchObject(notAllowed)
    }
  }
  expect(await people.operations.put(`${U}/${customer.user.id}/`, { email: 'new@example.com' })).toMatchObject(allowed)
  expect(await people.support.put(`${U}/${customer.user.id}/`, { email: 'x@example.com' })).toMatchObject(notAllowed)
})

test('nobody but an owner makes an administrator or changes a role, also not the own one', async () => {
  const customer = await shop.customer()
  const own = people.operations.user.id
  for (const form of [{ is_superuser: true }, { is_superuser: true, operator_role: 'viewer' }])
    expect(await people.operations.put(`${U}/${customer.user.id}/`, form)).toMatchObject(notAllowed)
  expect(await people.operations.put(`${U}/${own}/`, { operator_role: 'owner' })).toMatchObject(notAllowed)
  expect(await people.operations.put(`${U}/${own}/`, { is_superuser: false })).toMatchObject(notAllowed)
  // A role that is sent along with the rest of the form, as it is, changes nothing.
  expect(await people.operations.put(`${U}/${own}/`, { operator_role: 'operations' })).toMatchObject(allowed)
  expect(await userOf(own)).toMatchObject({ is_superuser: true, operator_role: 'operations' })
  expect(await userOf(customer.user.id)).toMatchObject({ is_superuser: false, operator_role: null })
})

test('a new role ends the sessions that had the old one, and holds from the next call on', async () => {
  const promoted = await operator('viewer')
  expect(await promoted.get('/api/settings/config')).toMatchObject(notAllowed)
  const reply = await people.owner.put(`${U}/${promoted.user.id}/`, { operator_role: 'operations' })
  expect(reply).toMatchObject({ code: 2000, data: { operator_role: 'operations' } })
  expect((await promoted.get('/api/settings/config')).status).toBe(401)
})

test('an administrator made by the switch alone is an owner; the last owner stays one', async () => {
  const customer = await shop.customer()
  const made = await people.owner.put(`${U}/${customer.user.id}/`, { is_superuser: true })
  expect(made).toMatchObject({ code: 2000, data: { is_superuser: true, operator_role: 'owner' } })
  const own = people.owner.user.id
  expect(await people.owner.put(`${U}/${customer.user.id}/`, { operator_role: 'support' })).toMatchObject(allowed)
  const last = await people.owner.put(`${U}/${own}/`, { operator_role: 'operations' })
  expect(last).toMatchObject({ status: 409, msg: 'The last active owner keeps that role' })
})

test('a role that is sent for a customer is not kept for when it becomes an administrator', async () => {
  const customer = await shop.customer()
  const path = `${U}/${customer.user.id}/`
  for (const by of [people.operations, people.owner]) await by.put(path, { operator_role: 'viewer' })
  expect(await userOf(customer.user.id)).toMatchObject({ is_superuser: false, operator_role: null })
  const made = await people.owner.put(path, { is_superuser: true })
  expect(made).toMatchObject({ code: 2000, data: { is_superuser: true, operator_role: 'owner' } })
})

test('the audit log says which role an administrator got and lost, and none of a customer', async () => {
  const customer = await shop.customer()
  const path = `${U}/${customer.user.id}/`
  const forms = [
    { is_superuser: true, operator_role: 'support' },
    { operator_role: 'viewer' },
    { is_superuser: false },
    { is_superuser: true }
  ]
  for (const form of forms) expect(await people.owner.put(path, form)).toMatchObject(allowed)
  const { rows } = await shop.ctx.db.execute(
    sql`select before, after from audit_log where action = 'user.edit' and target_id = ${String(customer.user.id)} order by id`
  )
  const [admin, plain] = [{ isSuperuser: true }, { isSuperuser: false }]
  expect(rows).toEqual([
    { before: { ...plain, operatorRole: null }, after: { ...admin, operatorRole: 'support' } },
    { before: { operatorRole: 'support' }, after: { operatorRole: 'viewer' } },
    { before: { ...admin, operatorRole: 'viewer' }, after: { ...plain, operatorRole: null } },
    { before: { ...plain, operatorRole: null }, after: { ...admin, operatorRole: 'owner' } }
  ])
})

test('a bulk action takes the permission of what it does', async () => {
  const start = (by: Buyer, action: string) => by.post('/api/bulk/', { action, selection: { ids: [999_999] } })
  expect(await start(people.support, 'order.delete')).toMatchObject(notAllowed)
  expect(await start(people.support, 'gift_card.delete')).toMatchObject(notAllowed)
  expect(await start(people.viewer, 'order.check')).toMatchObject(notAllowed)
  expect((await start(people.support, 'order.check')).msg).not.toBe(notAllowed.msg)
})

test('the rows of a run are read by those who may run it: their names may be codes that are worth money', async () => {
  const card = await people.owner.post<{ id: number }>('/api/rewards/gift_card/', {
    mount: '5',
    code: 'SECRET-1',
    point: 9
  })
  const selection = { ids: [card.data.id] }
  const run = await people.owner.post<{ id: number }>('/api/bulk/', { action: 'gift_card.delete', selection })
  const rows = `/api/bulk/${run.data.id}/rows/`
  expect(await people.viewer.get(rows)).toMatchObject(notAllowed)
  expect(await people.support.get(rows)).toMatchObject(notAllowed)
  expect(JSON.stringify((await people.operations.get(rows)).data)).toContain('SECRET-1')
})

test('proxies are read with their passwords by those who may, and codes that are worth money too', async () => {
  const customer = await shop.customer({ username: 'reader1' })
  const order = await shop.buy(customer)
  const detail = `/api/orders/order_list/${order.id}/get_proxy_detail/`
  expect(await people.support.get(detail)).toMatchObject(allowed)
  expect(await people.viewer.get(detail)).toMatchObject(notAllowed)
  expect(await people.viewer.get('/api/rewards/coupon_code/')).toMatchObject(notAllowed)
  const levels = await people.viewer.get<{ data: { code: string | null }[] }>('/api/rewards/level_code/')
  expect(levels.data.data.every(({ code }) => !code)).toBe(true)
})

test('a session as a user ends with the role that allowed it', async () => {
  const customer = await shop.customer()
  const helper = await operator('support')
  expect(await helper.post('/api/users/admin/switch-user', { user_id: customer.user.id })).toMatchObject(allowed)
  expect(await helper.get('/api/users/u/user_info/')).toMatchObject({ data: { id: customer.user.id } })
  await shop.ctx.db.update(users).set({ operatorRole: 'viewer' }).where(eq(users.id, helper.user.id))
  expect((await helper.get('/api/users/u/user_info/')).status).toBe(401)
})
