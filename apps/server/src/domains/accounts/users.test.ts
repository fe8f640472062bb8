import { and, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { beforeEach, expect, test, describe } from 'vitest'
import { addSession } from '../../testing/session.ts'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import { auditNames } from '../../order-names.ts'
import { auditRoutes } from '../audit/index.ts'
import { rewardsQueues } from '../rewards/queues.ts'
import { coupons, levelCodes, pointRecords } from '../rewards/tables.ts'
import { SESSION_COOKIE } from './sessions.ts'
import { users } from './tables.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import { rewardsRoutes } from '../rewards/index.ts'
import { addRow } from '../../testing/rows.ts'
import { editNow, newKey } from '../../testing/asking-once.ts'

const shop = useStarted(() =>
  startTestShop({
    routes(mount, parts) {
      accountRoutesWithPorts(mount, parts)
      auditRoutes(mount, parts, auditNames)
      rewardsRoutes(mount, parts)
    },
    queues: rewardsQueues
  })
)
const admin = useStarted(() => shop.admin({ username: 'chief' }))

beforeEach(async () => {
  // Some tests leave only one administrator.
  await shop.ctx.db.execute(
    sql`update users set is_superuser = (id = ${admin.user.id}) where is_superuser and deleted_at is null`
  )
  // The demotion signed the administrator out.
  admin.cookies.set(SESSION_COOKIE, await addSession(shop.ctx, admin.user.id))
})

type Row = Record<string, unknown> & { id: number; username: string }
type Page = { data: Row[]; total: number }
const U = '/api/users/u'

const audit = async (search: string) =>
  (
    await admin.get<{ data: Record<string, unknown>[] }>(
      `/api/settings/audit_log/?search=${encodeURIComponent(search)}`
    )
  ).data.data

test('lists users, newest first, searched by name and address, and says their level', async () => {
  await shop.ctx.db.insert(levelCodes).values([
    { level: 1, discount: '5', point: 100 },
    { level: 2, discount: '10', point: 5000 }
  ])
  const one = await shop.customer({ username: 'needle1' })
  await shop.customer({ email: 'also.needle@example.com' })
  await shop.ctx.db.update(users).set({ levelPoints: 4999 }).where(eq(users.id, one.user.id))
  const found = await admin.get<Page>(`${U}/?search=NEEDLE&limit=1&offset=1`)
  expect(found.data).toMatchObject({ total: 2, limit: 1, offset: 1, data: [{ username: 'needle1', level: 1 }] })
  expect(JSON.stringify(found.data)).not.toMatch(/password|argon2/i)
  const all = await admin.get<Page>(`${U}/?limit=10000&offset=0`)
  expect(all.data.total).toBe(await shop.ctx.db.$count(users, isNull(users.deletedAt)))
  expect(all.data.data.map(row => row.id)).toEqual(all.data.data.map(row => row.id).toSorted((a, b) => b - a))
  expect((await admin.get<Page>(`${U}/?search=%25_%25`)).data.total).toBe(0)
  expect((await admin.get(`${U}/?limit=0`)).code).toBe(400)
})

test('saves the Edit dialog: name, address, coins with their record, and writes it to the audit log', async () => {
  const { user } = await shop.customer()
  const saved = await editNow(admin, user.id, {
    username: 'renamed1',
    email: 'renamed1@example.com',
    reward_points: 0,
    reward_points_change: 500,
    is_superuser: false,
    is_active: true,
    password: ''
  })
  expect(saved).toMatchObject({
    code: 2000,
    data: { username: 'renamed1', email: 'renamed1@example.com', reward_points: 500, points: 500 }
  })
  expect((await editNow(admin, user.id, { reward_points_change: -380, level_points_change: 7 })).code).toBe(2000)
  expect((await editNow(admin, user.id, { reward_points: 120, reward_points_change: 0 })).code).toBe(2000)
  const records = await shop.ctx.db
    .select()
    .from(pointRecords)
    .where(eq(pointRecords.userId, user.id))
    .orderBy(pointRecords.id)
  expect(records.map(record => [record.kind, record.point])).toEqual([
    ['coins', 500],
    ['coins', -380],
    ['level', 7]
  ])
  expect(await audit(`user.edit user ${user.id}`)).toMatchObject([
    { actor: 'chief', before: { coins: 500, levelPoints: 0 }, after: { coins: 120, levelPoints: 7 } },
    { before: { username: user.username, coins: 0 }, after: { username: 'renamed1', coins: 500 } }
  ])
})

test.each([
  ['reward_points', [null, -1, 1.5, 100_000_001, 'many']],
  ['reward_points_change', [null, 1.5, 100_000_001, '50']],
  ['level_points_change', [null, 1.5, 100_000_001, '50']]
])('%s of %j are refused', async (field, values) => {
  const { user } = await shop.customer()
  for (const value of values)
    expect(await admin.put(`${U}/${user.id}/`, { [field]: value })).toMatchObject({
      code: 400,
      data: { errors: { [field]: expect.any(String) as string } }
    })
})

test('coins are not set to a value, and neither balance leaves its range', async () => {
  const { user } = await shop.customer()
  await editNow(admin, user.id, { reward_points_change: 80 })
  const set = await admin.put(`${U}/${user.id}/`, { email: 'elsewhere@example.com', reward_points: 100 })
  expect(set).toMatchObject({
    code: 409,
    msg: 'Change points by an amount, such as 50 or -50. You cannot set them to a value.',
    data: { reason: 'points_by_change', changed: ['reward_points'], current: { reward_points: 80, email: user.email } }
  })
  expect(await editNow(admin, user.id, { reward_points_change: -81 })).toMatchObject({
    code: 400,
    data: { errors: { reward_points_change: 'The balance is 80 and must stay from 0 to 100000000' } }
  })
  expect((await editNow(admin, user.id, { reward_points_change: 100_000_000 })).code).toBe(400)
  expect((await editNow(admin, user.id, { level_points_change: -1 })).code).toBe(400)
  const [row] = await shop.ctx.db.select().from(users).where(eq(users.id, user.id))
  expect(row).toMatchObject({ coins: 80, levelPoints: 0, email: user.email })
})

test('coins changed by several at once: the records add up to the balance', async () => {
  const { user } = await shop.customer()
  const changes = [10, 200, 3000, 40_000]
  const change = async (by: number): Promise<unknown> => {
    const reply = await editNow(admin, user.id, { reward_points_change: by })
    return reply.status === 409 ? change(by) : expect(reply.code).toBe(2000)
  }
  await Promise.all(changes.map(change))
  const [row] = await shop.ctx.db.select({ coins: users.coins }).from(users).where(eq(users.id, user.id))
  const [sum] = await shop.ctx.db
    .select({ total: sql<string>`sum(${pointRecords.point})` })
    .from(pointRecords)
    .where(eq(pointRecords.userId, user.id))
  expect(Number(sum?.total)).toBe(row?.coins)
  expect(row?.coins).toBe(43_210)
})

test('a name or an address that another one has is a conflict and saves nothing', async () => {
  const one = await shop.customer()
  const other = await shop.customer()
  const name = await editNow(admin, one.user.id, {
    username: other.user.username.toUpperCase(),
    reward_points_change: 7
  })
  expect(name).toMatchObject({ code: 409, msg: 'This username is already taken' })
  const email = await admin.put(`${U}/${one.user.id}/`, { email: other.user.email })
  expect(email).toMatchObject({ code: 409, msg: 'This email is already registered' })
  expect(await one.get('/api/auth/login')).toMatchObject({ data: { reward_points: 0, email: one.user.email } })
})

test('an administrator sets a password: the sessions end, the old one does not work', async () => {
  const client = await shop.customer()
  const { user } = client
  const empty = await admin.post(`${U}/${user.id}/change_password/`, { id: user.id, password: '' })
  expect(empty).toMatchObject({ code: 400, msg: 'Please enter password' })
  const reply = await admin.post(`${U}/${user.id}/change_password/`, { id: user.id, password: 'Given#2026' })
  expect(reply.code).toBe(2000)
  expect((await client.get('/api/auth/login')).code).toBe(401)
  const login = (password: string) => shop.visitor().post('/api/auth/login', { username: user.username, password })
  expect((await login(TEST_PASSWORD)).code).toBe(401)
  expect((await login('Given#2026')).code).toBe(2000)
  const entries = await audit(`user.set_password user ${user.id}`)
  expect(entries).toMatchObject([{ actor: 'chief', after: { password: '[secret]' } }])

  await admin.put(`${U}/${user.id}/`, { password: 'Again#2026' })
  expect((await login('Again#2026')).code).toBe(2000)
  expect(JSON.stringify(await audit(`user ${user.id}`))).not.toMatch(/2026#|#2026|argon2/)
})

test('a ban ends the sessions at once; an unban lets the user in again', async () => {
  const client = await shop.customer()
  const { user } = client
  expect((await admin.post(`${U}/${user.id}/baned_user/`, { id: user.id })).code).toBe(2000)
  expect((await client.get('/api/auth/login')).code).toBe(401)
  expect((await admin.post(`${U}/${user.id}/baned_user/`, { id: user.id })).code).toBe(2000)
  // A form without a version may be older than the ban.
  const form = { email: 'unbanned@example.com', is_active: true }
  expect(await admin.put(`${U}/${user.id}/`, form)).toMatchObject({ code: 409, data: { changed: ['is_active'] } })
  const row = await admin.get<Page>(`${U}/?search=${user.username}`)
  expect(row.data.data[0]).toMatchObject({ is_active: false })
  expect((await admin.post(`${U}/${user.id}/unbaned_user/`, { id: user.id })).code).toBe(2000)
  expect((await client.get('/api/auth/login')).code).toBe(401)
  const login = await shop.visitor().post('/api/auth/login', { username: user.username, password: TEST_PASSWORD })
  expect(login.code).toBe(2000)
  expect((await audit(`ban user ${user.id}`)).map(entry => entry['action'])).toEqual(['user.unban', 'user.ban'])
})

test('the own account is neither banned nor deleted', async () => {
  await shop.admin()
  const own = { status: 409, msg: 'You cannot do this to your own account' }
  expect(await admin.post(`${U}/${admin.user.id}/baned_user/`)).toMatchObject(own)
  expect(await admin.put(`${U}/${admin.user.id}/`, { is_active: false })).toMatchObject(own)
  expect(await admin.delete(`${U}/${admin.user.id}/`)).toMatchObject(own)
})

test('the last active administrator stays one', async () => {
  const last = { status: 409, msg: 'The shop needs an active owner. Make another operator an owner first.' }
  expect(await admin.put(`${U}/${admin.user.id}/`, { is_superuser: false })).toMatchObject(last)
  const second = await shop.admin()
  await admin.post(`${U}/${second.user.id}/baned_user/`)
  expect(await admin.put(`${U}/${admin.user.id}/`, { is_superuser: false })).toMatchObject(last)
})

test('administrators who remove each other at once do not leave the shop without one', async () => {
  const others = await Promise.all([shop.admin(), shop.admin(), shop.admin()])
  const admins = [admin, ...others]
  const replies = await Promise.all(
    admins.map((client, i) => client.put(`${U}/${admins[(i + 1) % 4]?.user.id}/`, { is_superuser: false }))
  )
  expect(replies.some(reply => reply.code === 2000)).toBe(true)
  const left = await shop.ctx.db.$count(users, and(eq(users.isSuperuser, true), eq(users.isActive, true)))
  expect(left).toBeGreaterThanOrEqual(1)
  await shop.ctx.db.update(users).set({ isSuperuser: true, operatorRole: 'owner' }).where(eq(users.id, admin.user.id))
})

test('a user without a history is deleted permanently', async () => {
  const client = await shop.customer()
  expect((await admin.delete(`${U}/${client.user.id}/`)).code).toBe(2000)
  expect(await shop.ctx.db.$count(users, eq(users.id, client.user.id))).toBe(0)
  expect((await client.get('/api/auth/login')).code).toBe(401)
  expect((await admin.delete(`${U}/${client.user.id}/`)).code).toBe(404)
  expect(await audit(`user.delete user ${client.user.id}`)).toMatchObject([
    { before: null, after: { historyKept: false } }
  ])
})

test('a user with a history keeps a nameless row, and its name and address are free again', async () => {
  const client = await shop.customer({ username: 'history1' })
  const { user } = client
  await addRow(shop.ctx, coupons, { holderId: user.id, code: 'SPRING', codeType: 1, discount: '5.00' })
  expect((await admin.delete(`${U}/${user.id}/`)).code).toBe(2000)
  const [row] = await shop.ctx.db.select().from(users).where(eq(users.id, user.id))
  expect(row).toMatchObject({ username: `deleted-${user.id}`, isActive: false, discordId: null, lastLoginIp: null })
  expect(row?.email).not.toContain('history1')
  expect((await client.get('/api/auth/login')).code).toBe(401)
  expect((await admin.get<Page>(`${U}/?search=deleted-${user.id}`)).data.total).toBe(0)
  for (const reply of [
    await admin.put(`${U}/${user.id}/`, { is_active: true }),
    await admin.post(`${U}/${user.id}/unbaned_user/`),
    await admin.post(`${U}/${user.id}/change_password/`, { password: TEST_PASSWORD }),
    await admin.post('/api/users/admin/switch-user', { user_id: user.id })
  ])
    expect(reply.code).toBe(404)
  await expect(shop.customer({ username: 'history1' })).resolves.toBeDefined()
})

test('who is promoted or demoted is signed out, and a demoted administrator loses the console', async () => {
  const second = await shop.admin()
  expect((await second.get(`${U}/`)).code).toBe(2000)
  await admin.put(`${U}/${second.user.id}/`, { is_superuser: false })
  expect((await second.get(`${U}/`)).code).toBe(401)
  const third = await shop.customer()
  await admin.put(`${U}/${third.user.id}/`, { is_superuser: true, operator_role: 'owner' })
  expect((await third.get('/api/auth/login')).code).toBe(401)
})

describe('an administrator who views the shop as a user', () => {
  const SWITCH = '/api/users/admin/switch-user'
  const BACK = '/api/users/admin/switch-back'
  const ME = '/api/auth/login'

  test('an administrator looks through a user’s eyes and comes back; both are in the audit log', async () => {
    const boss = await shop.admin()
    const { user } = await shop.customer()
    const own = boss.cookies.get(SESSION_COOKIE) ?? ''
    expect(await boss.post(SWITCH, { user_id: user.id })).toMatchObject({
      code: 2000,
      data: { id: user.id, username: user.username, impersonated_by: boss.user.username }
    })
    expect(await boss.get(ME)).toMatchObject({ data: { id: user.id, impersonated_by: boss.user.username } })
    expect((await boss.get('/api/users/u/')).code).toBe(403)
    // Their own session stays beside it.
    const beside = shop.visitor()
    beside.cookies.set(SESSION_COOKIE, own)
    expect((await beside.get(ME)).data).toMatchObject({ id: boss.user.id })

    expect(await boss.post(BACK)).toMatchObject({ code: 2000, data: { id: boss.user.id, impersonated_by: null } })
    expect((await boss.get('/api/users/u/')).code).toBe(2000)
    expect((await boss.post(BACK)).code).toBe(409)
    expect((await beside.get(ME)).code).toBe(401)

    const log = await admin.get<{ data: unknown[] }>(`/api/settings/audit_log/?search=user ${user.id}`)
    expect(log.data.data).toMatchObject([
      { action: 'user.switch_back', actor: boss.user.username },
      { action: 'user.switch', actor: boss.user.username, after: { username: user.username }, ip: '127.0.0.1' }
    ])
  })

  test('banned users, administrators and unknown ids cannot be switched to', async () => {
    const boss = await shop.admin()
    const other = await shop.admin()
    const { user } = await shop.customer()
    await admin.post(`/api/users/u/${user.id}/baned_user/`)
    const refused = { code: 403, msg: 'Failed to switch user' }
    expect(await boss.post(SWITCH, { user_id: user.id })).toMatchObject(refused)
    expect(await boss.post(SWITCH, { user_id: other.user.id })).toMatchObject(refused)
    expect(await boss.post(SWITCH, { user_id: boss.user.id })).toMatchObject(refused)
    expect((await boss.post(SWITCH, { user_id: 999_999 })).code).toBe(404)
    expect((await boss.get(ME)).data).toMatchObject({ id: boss.user.id })
  })

  test('a visit ends with the administrator’s rights, session or password', async () => {
    const { user } = await shop.customer()
    const visit = async () => {
      const boss = await shop.admin()
      await boss.post(SWITCH, { user_id: user.id })
      expect((await boss.get(ME)).code).toBe(2000)
      return boss
    }
    const demoted = await visit()
    await admin.put(`/api/users/u/${demoted.user.id}/`, { is_superuser: false })
    expect((await demoted.get(ME)).code).toBe(401)
    expect((await demoted.post(BACK)).code).toBe(401)

    const banned = await visit()
    await admin.post(`/api/users/u/${banned.user.id}/baned_user/`)
    expect((await banned.get(ME)).code).toBe(401)

    const reset = await visit()
    await admin.post(`/api/users/u/${reset.user.id}/change_password/`, { password: TEST_PASSWORD })
    expect((await reset.get(ME)).code).toBe(401)
  })

  test('logging out while visiting ends the own session as well', async () => {
    const boss = await shop.admin()
    const own = boss.cookies.get(SESSION_COOKIE) ?? ''
    const { user } = await shop.customer()
    await boss.post(SWITCH, { user_id: user.id })
    await boss.get('/api/auth/logout')
    const beside = shop.visitor()
    beside.cookies.set(SESSION_COOKIE, own)
    expect((await beside.get(ME)).code).toBe(401)
  })

  test('a visitor through a user’s eyes leaves no key, password or chat account behind, and spends no coins', async () => {
    const boss = await shop.admin()
    const { user } = await shop.customer()
    await boss.post(SWITCH, { user_id: user.id })
    const refused = { code: 403, msg: "You cannot do this while viewing another user's account" }
    const password = TEST_PASSWORD
    expect(await boss.post('/api/users/api_keys/', { name: 'mine', scopes: ['read'], password })).toMatchObject(refused)
    const form = { old_password: TEST_PASSWORD, new_password: 'Other#2026' }
    expect(await boss.post('/api/users/change_password', form)).toMatchObject(refused)
    for (const path of ['/api/auth/discord/bind', '/api/auth/discord/unbind', '/api/users/delete_account'])
      expect(await boss.post(path, { password }), path).toMatchObject(refused)
    const email = 'other@example.com'
    expect(await boss.post('/api/users/change_email_code', { email, password })).toMatchObject(refused)
    expect(await boss.get('/api/users/u/data_export')).toMatchObject(refused)
    expect(await boss.post('/api/rewards/gift_card/exchange/', { mount: '10', point: 10 }, newKey())).toMatchObject(
      refused
    )
  })
})
