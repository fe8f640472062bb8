import {
  OPERATOR_ROLES,
  type OperatorRole,
  type Order,
  type OwnSession,
  type Page,
  type Payment,
  type PointRecord,
  type Ticket,
  type User,
  type UserApiKey,
  type UserDetail,
  type UserLogin
} from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { beforeAll, expect, test, describe } from 'vitest'
import { startStockedShop, type Buyer } from '../../api/stocked-shop.fixture.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { levelCodes } from '../rewards/tables.ts'
import { tickets } from '../support/tables.ts'
import { users } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import { addRows } from '../../testing/rows.ts'

const shop = useStarted(startStockedShop)
const admin = useStarted(() => shop.admin({ username: 'chief' }))
let alice: Buyer
let order: { id: number; publicId: string }
let others: { id: number; publicId: string }

beforeAll(async () => {
  const { db } = shop.ctx
  await db.delete(levelCodes)
  await db.insert(levelCodes).values([
    { level: 1, discount: '5', point: 100 },
    { level: 2, discount: '10', point: 5000 }
  ])
  const bob = await shop.customer({ username: 'bobby' })
  alice = await shop.customer({ username: 'alice' })
  await db.update(users).set({ invitedBy: bob.user.id, coinsOwed: 3 }).where(eq(users.id, alice.user.id))
  order = await shop.buy(alice)
  others = await shop.buy(bob)
  const ticket = { username: 'somebody', phone: '1', message: 'Help', clientIp: '127.0.0.1' }
  await addRows(shop.ctx, tickets, [
    { ...ticket, email: alice.user.email.toUpperCase() },
    { ...ticket, email: 'other@example.com', message: `not ${alice.user.email}` }
  ])
})

const U = '/api/users/u'
const list = async <T>(path: string) => (await admin.get<Page<T>>(path)).data
const namesOf = ({ data }: Page<User>) => data.map(user => user.username)

async function logIn(username: string, userAgent: string) {
  const visitor = shop.visitor({ ip: '198.51.100.9' })
  const reply = await visitor.post(
    '/api/auth/login',
    { username, password: TEST_PASSWORD },
    { 'user-agent': userAgent }
  )
  expect(reply.code).toBe(2000)
  return visitor
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

test('one user is read with its figures, points that wait and that are owed, and who invited it', async () => {
  await shop.apiKey(alice.user.id, 'read')
  const reply = await admin.get<UserDetail>(`${U}/${alice.user.id}/`)
  expect(reply.data).toMatchObject({
    username: 'alice',
    invited_by: { username: 'bobby' },
    language: 'en',
    mail_blocked: null,
    owed_points: 3,
    api_keys: 1,
    figures: { orders: 1, unpaid_orders: 0, live_orders: 1, paid: '20.00', owed: 'leases' }
  })
  expect((await admin.get<UserDetail>(`${U}/${admin.user.id}/`)).data.figures.owed).toBeNull()
  expect(reply.data.sessions).toBeGreaterThan(0)
  expect(JSON.stringify(reply.data)).not.toMatch(/argon2|hash/i)
  expect(await admin.get(`${U}/999999/`)).toMatchObject({ code: 404 })
})

test('orders, payments, points and tickets are those of the user alone', async () => {
  const { id } = alice.user
  const orders = await list<Order>(`/api/orders/order_list/?user_id=${id}`)
  expect(orders).toMatchObject({ total: 1, data: [{ order_id: order.publicId, holds_addresses: true }] })
  const own = await alice.get<Page<Order>>(`/api/orders/order_list/?user_id=${admin.user.id}`)
  expect(own.data.data).toMatchObject([{ order_id: order.publicId, holds_addresses: false }])
  const payments = await list<Payment>(`${U}/${id}/payments/`)
  expect(payments).toMatchObject({
    total: 1,
    data: [{ order: order.publicId, order_id: order.id, kind: 'purchase', state: 'accepted', amount: '20.00' }]
  })
  expect(payments.data.map(one => one.order)).not.toContain(others.publicId)
  const points = await list<PointRecord>(`${U}/${id}/points/`)
  expect(points.data).toMatchObject([{ kind: 'level', reason_code: 'payment', params: { order: order.publicId } }])
  expect(await list<PointRecord>(`${U}/${id}/points/?kind=coins`)).toMatchObject({ data: [], total: 0 })
  expect(await list<Ticket>(`${U}/${id}/tickets/`)).toMatchObject({ total: 1, data: [{ message: 'Help' }] })
  for (const part of ['payments', 'points', 'tickets', 'logins'])
    expect(await list(`${U}/999999/${part}/`)).toMatchObject({ data: [], total: 0 })
})

test('each log-in is written down with how, whence and by what, and goes with its user', async () => {
  const { db } = shop.ctx
  const { user } = await shop.customer({ username: 'logger' })
  await logIn('logger', FIREFOX)
  const { data } = await list<UserLogin>(`${U}/${user.id}/logins/`)
  expect(data).toMatchObject([{ method: 'password', ip: '198.51.100.9', location: 'AU' }])
  expect(data[0]?.device).toContain('Firefox')
  expect((await admin.delete(`${U}/${user.id}/`)).code).toBe(2000)
  const left = await db.execute(sql`select 1 from logins where user_id = ${user.id}`)
  expect(left.rows).toEqual([])
})

test('keys are listed with those that have ended, without the keys themselves', async () => {
  const { user, ...client } = await shop.customer({ username: 'keys1' })
  const live = await shop.apiKey(user.id, 'read')
  const gone = await shop.apiKey(user.id, 'renew')
  expect((await client.delete(`/api/users/api_keys/${gone.id}/`)).code).toBe(2000)
  const keys = await admin.get<UserApiKey[]>(`${U}/${user.id}/api_keys/`)
  expect(keys.data).toMatchObject([
    { id: gone.id, revoked_at: expect.any(String) },
    { id: live.id, revoked_at: null }
  ])
  expect(JSON.stringify(keys.data)).not.toContain(live.key)
})

test('an administrator ends one session or all of them, which stands in the audit log; the keys go on', async () => {
  const { user } = await shop.customer({ username: 'session' })
  const first = await logIn('session', FIREFOX)
  const second = await logIn('session', FIREFOX)
  const { key } = await shop.apiKey(user.id, 'read')
  const sessions = async () => (await admin.get<OwnSession[]>(`${U}/${user.id}/sessions/`)).data
  const [newest] = await sessions()
  expect(newest).toMatchObject({ ip: '198.51.100.9', is_current: false })
  expect((await admin.delete(`${U}/sessions/${newest?.id}/`)).code).toBe(2000)
  expect((await admin.delete(`${U}/sessions/${newest?.id}/`)).code).toBe(404)
  expect((await second.get('/api/auth/login')).code).toBe(401)
  expect((await first.get('/api/auth/login')).code).toBe(2000)
  expect((await admin.post(`${U}/${user.id}/end_sessions/`)).code).toBe(2000)
  expect((await first.get('/api/auth/login')).code).toBe(401)
  expect(await sessions()).toEqual([])
  const bearer = { authorization: `Bearer ${key}` }
  expect((await shop.visitor().get(`${U}/user_info/`, bearer)).code).toBe(2000)
  const audit = await list<{ action: string }>(`/api/settings/audit_log/?search=user ${user.id}`)
  expect(audit.data.map(entry => entry.action)).toEqual(['user.end_sessions', 'user.end_session'])
})

test('administrators who end all of their own sessions keep the one that they ask with', async () => {
  const boss = await shop.admin({ username: 'boss2' })
  const elsewhere = await logIn('boss2', FIREFOX)
  expect((await boss.post(`${U}/${boss.user.id}/end_sessions/`)).code).toBe(2000)
  expect((await elsewhere.get('/api/auth/login')).code).toBe(401)
  const { data } = await boss.get<OwnSession[]>(`${U}/${boss.user.id}/sessions/`)
  expect(data).toMatchObject([{ is_current: true }])
})

test('the list is filtered by ban, rights and level, and sorted by balances and the last log-in', async () => {
  const { db } = shop.ctx
  const one = await shop.customer({ username: 'filter1' })
  const two = await shop.customer({ username: 'filter2' })
  const three = await shop.customer({ username: 'filter3' })
  await db
    .update(users)
    .set({ isActive: false, levelPoints: 99, coins: 7, lastLogin: new Date('2026-01-01') })
    .where(eq(users.id, one.user.id))
  await db
    .update(users)
    .set({ levelPoints: 100, coins: 9, lastLogin: new Date('2026-02-01') })
    .where(eq(users.id, two.user.id))
  await db.update(users).set({ levelPoints: 5000, coins: 8, lastLogin: null }).where(eq(users.id, three.user.id))
  const found = async (query: string) => namesOf(await list<User>(`${U}/?search=filter&${query}`))
  expect(await found('is_active=0')).toEqual(['filter1'])
  expect(await found('is_active=1')).toEqual(['filter3', 'filter2'])
  expect(await found('level=0')).toEqual(['filter1'])
  expect(await found('level=1')).toEqual(['filter2'])
  expect(await found('level=2')).toEqual(['filter3'])
  expect(await found('level=5')).toEqual([])
  expect(await found('is_superuser=1')).toEqual([])
  expect(namesOf(await list<User>(`${U}/?is_superuser=1`))).toContain('chief')
  expect(await found('sort_by=reward_points')).toEqual(['filter2', 'filter3', 'filter1'])
  expect(await found('sort_by=level_points&sort_order=asc')).toEqual(['filter1', 'filter2', 'filter3'])
  expect(await found('sort_by=last_login')).toEqual(['filter2', 'filter1', 'filter3'])
  const first = await list<User>(`${U}/?search=filter&sort_by=last_login&limit=2`)
  expect(await found(`sort_by=last_login&after=${encodeURIComponent(first.next ?? '')}`)).toEqual(['filter3'])
})

test('the lists of users and of what is theirs are read by indexes', async () => {
  const { db } = shop.ctx
  await db.execute(sql`insert into users (created_at, username, email, password_hash, invite_code, coins, level_points, is_active)
    select now(), 'many' || n, 'many' || n || '@example.com', 'x', 'many' || n, n, n, n % 500 <> 0 from generate_series(1, 3000) n`)
  await db.execute(
    sql`insert into logins (at, user_id, method) select now(), u.id, 'password' from users u, generate_series(1, 3)`
  )
  await db.execute(sql`insert into tickets (created_at, username, email, phone, message)
    select now(), 'x', 'many' || n || '@example.com', '1', 'Help' from generate_series(1, 3000) n`)
  await db.execute(sql`analyze users, logins, tickets`)
  const top = (column: string, more = '') =>
    sql.raw(`select id from users where deleted_at is null ${more} order by ${column} desc, id desc limit 10`)
  const plans: [query: ReturnType<typeof sql>, index: string][] = [
    [top('coins'), 'users_by_coins'],
    [top('level_points'), 'users_by_level_points'],
    [top("coalesce(last_login, '-infinity'::timestamptz)"), 'users_by_last_login'],
    [top('id', 'and not is_active'), 'users_banned'],
    [top('id', 'and is_superuser'), 'users_admins'],
    [sql`select id from logins where user_id = 5 order by id desc limit 10`, 'logins_user'],
    [sql`select id from tickets where lower(email) = 'many7@example.com' order by id desc limit 10`, 'tickets_email']
  ]
  for (const [query, index] of plans) {
    const { rows } = await db.execute<Record<string, string>>(sql`explain ${query}`)
    expect(rows.map(row => row['QUERY PLAN']).join('\n')).toContain(index)
  }
})

describe('roles of operators', () => {
  const STRONG = 'Other#2026'
  let people: Record<OperatorRole, Buyer>

  async function operator(operatorRole: OperatorRole): Promise<Buyer> {
    const buyer = await shop.admin()
    await shop.ctx.db.update(users).set({ operatorRole }).where(eq(users.id, buyer.user.id))
    return buyer
  }

  beforeAll(async () => {
    // The only owner is one of them.
    await shop.ctx.db.update(users).set({ operatorRole: 'operations' }).where(eq(users.isSuperuser, true))
    const made = await Promise.all(OPERATOR_ROLES.map(async role => [role, await operator(role)] as const))
    people = Object.fromEntries(made) as Record<OperatorRole, Buyer>
  })

  const userOf = async (id: number) => {
    const list = await people.owner.get<{ data: User[] }>(`${U}/?limit=100`)
    const user = list.data.data.find(one => one.id === id)
    if (!user) throw new Error(`no user ${id}`)
    return user
  }
  const allowed = { code: 2000 }
  const notAllowed = { status: 403, msg: 'Your role does not allow this' }

  test('only an owner changes other administrators, not every role that changes users', async () => {
    const customer = await shop.customer()
    for (const target of [people.owner, people.support, people.viewer]) {
      const { id } = target.user
      const [session] = (await people.owner.get<OwnSession[]>(`${U}/${id}/sessions/`)).data
      for (const by of [people.operations, people.support, people.viewer]) {
        if (by === target) continue
        const tried = [
          await by.put(`${U}/${id}/`, { email: 'taken@example.com' }),
          await by.put(`${U}/${id}/`, { password: STRONG }),
          await by.post(`${U}/${id}/change_password/`, { id, password: STRONG }),
          await by.post(`${U}/${id}/baned_user/`, { id }),
          await by.post(`${U}/${id}/unbaned_user/`, { id }),
          await by.delete(`${U}/sessions/${session?.id}/`),
          await by.post(`${U}/${id}/end_sessions/`),
          await by.delete(`${U}/${id}/`)
        ]
        for (const reply of tried) expect(reply).toMatchObject(notAllowed)
      }
    }
    expect(await people.operations.put(`${U}/${customer.user.id}/`, { email: 'new@example.com' })).toMatchObject(
      allowed
    )
    expect(await people.support.put(`${U}/${customer.user.id}/`, { email: 'x@example.com' })).toMatchObject(notAllowed)
  })

  test('only an owner makes an administrator or changes a role, even the own one', async () => {
    const customer = await shop.customer()
    const own = people.operations.user.id
    for (const form of [{ is_superuser: true }, { is_superuser: true, operator_role: 'viewer' }])
      expect(await people.operations.put(`${U}/${customer.user.id}/`, form)).toMatchObject(notAllowed)
    expect(await people.operations.put(`${U}/${own}/`, { operator_role: 'owner' })).toMatchObject(notAllowed)
    expect(await people.operations.put(`${U}/${own}/`, { is_superuser: false })).toMatchObject(notAllowed)
    // The unchanged role in a form changes nothing.
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

  test('an administrator made by the switch alone only reads; the last owner stays one', async () => {
    const customer = await shop.customer()
    const made = await people.owner.put(`${U}/${customer.user.id}/`, { is_superuser: true })
    expect(made).toMatchObject({ code: 2000, data: { is_superuser: true, operator_role: 'viewer' } })
    const own = people.owner.user.id
    expect(await people.owner.put(`${U}/${customer.user.id}/`, { operator_role: 'support' })).toMatchObject(allowed)
    const last = await people.owner.put(`${U}/${own}/`, { operator_role: 'operations' })
    expect(last).toMatchObject({
      status: 409,
      msg: 'The shop needs an active owner. Make another operator an owner first.'
    })
  })

  test('a role that is sent for a customer is not kept for when it becomes an administrator', async () => {
    const customer = await shop.customer()
    const path = `${U}/${customer.user.id}/`
    for (const by of [people.operations, people.owner]) await by.put(path, { operator_role: 'support' })
    expect(await userOf(customer.user.id)).toMatchObject({ is_superuser: false, operator_role: null })
    const made = await people.owner.put(path, { is_superuser: true })
    expect(made).toMatchObject({ code: 2000, data: { is_superuser: true, operator_role: 'viewer' } })
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
      { before: { ...plain, operatorRole: null }, after: { ...admin, operatorRole: 'viewer' } }
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
})
