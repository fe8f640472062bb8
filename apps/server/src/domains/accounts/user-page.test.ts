import type {
  Order,
  OwnSession,
  Page,
  Payment,
  PointRecord,
  Ticket,
  User,
  UserApiKey,
  UserDetail,
  UserLogin
} from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startStockedShop, type Buyer, type StockedShop } from '../../api/stocked-shop.fixture.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { levelCodes } from '../rewards/tables.ts'
import { tickets } from '../support/tables.ts'
import { users } from './tables.ts'

let shop: StockedShop
let admin: Buyer
let alice: Buyer
let order: { id: number; publicId: string }
let others: { id: number; publicId: string }

beforeAll(async () => {
  shop = await startStockedShop()
  admin = await shop.admin({ username: 'chief' })
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
  await db.insert(tickets).values([
    { ...ticket, email: alice.user.email.toUpperCase() },
    { ...ticket, email: 'other@example.com', message: `not ${alice.user.email}` }
  ])
})
afterAll(() => shop?.close())

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
  await db.execute(sql`insert into users (username, email, password_hash, invite_code, coins, level_points, is_active)
    select 'many' || n, 'many' || n || '@example.com', 'x', 'many' || n, n, n, n % 500 <> 0 from generate_series(1, 3000) n`)
  await db.execute(
    sql`insert into logins (user_id, method) select u.id, 'password' from users u, generate_series(1, 3)`
  )
  await db.execute(sql`insert into tickets (username, email, phone, message)
    select 'x', 'many' || n || '@example.com', '1', 'Help' from generate_series(1, 3000) n`)
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
