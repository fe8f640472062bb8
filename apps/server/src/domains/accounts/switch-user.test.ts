import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, TEST_PASSWORD, type TestShop, type TestUser } from '../../testing/shop.ts'
import { auditNames } from '../../order-names.ts'
import { auditRoutes } from '../audit/index.ts'
import { rewardsRoutes } from '../rewards/index.ts'
import { SESSION_COOKIE } from './index.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'

let shop: TestShop
let chief: TestClient & { user: TestUser }

beforeAll(async () => {
  shop = await startTestShop({
    routes(mount, parts) {
      accountRoutesWithPorts(mount, parts)
      auditRoutes(mount, parts, auditNames)
      rewardsRoutes(mount, parts)
    }
  })
  chief = await shop.admin({ username: 'chief' })
})
afterAll(() => shop.close())

const SWITCH = '/api/users/admin/switch-user'
const BACK = '/api/users/admin/switch-back'
const ME = '/api/auth/login'

test('an administrator looks through a user’s eyes and comes back; both are in the audit log', async () => {
  const admin = await shop.admin()
  const { user } = await shop.customer()
  const own = admin.cookies.get(SESSION_COOKIE) ?? ''
  expect(await admin.post(SWITCH, { user_id: user.id })).toMatchObject({
    code: 2000,
    data: { id: user.id, username: user.username, impersonated_by: admin.user.username }
  })
  expect(await admin.get(ME)).toMatchObject({ data: { id: user.id, impersonated_by: admin.user.username } })
  expect((await admin.get('/api/users/u/')).code).toBe(403)
  // The own session is kept beside it.
  const beside = shop.visitor()
  beside.cookies.set(SESSION_COOKIE, own)
  expect((await beside.get(ME)).data).toMatchObject({ id: admin.user.id })

  expect(await admin.post(BACK)).toMatchObject({ code: 2000, data: { id: admin.user.id, impersonated_by: null } })
  expect((await admin.get('/api/users/u/')).code).toBe(2000)
  expect((await admin.post(BACK)).code).toBe(409)
  expect((await beside.get(ME)).code).toBe(401)

  const log = await chief.get<{ data: unknown[] }>(`/api/settings/audit_log/?search=user ${user.id}`)
  expect(log.data.data).toMatchObject([
    { action: 'user.switch_back', actor: admin.user.username },
    { action: 'user.switch', actor: admin.user.username, after: { username: user.username }, ip: '127.0.0.1' }
  ])
})

test('banned users, administrators and nobody are not switched to', async () => {
  const admin = await shop.admin()
  const other = await shop.admin()
  const { user } = await shop.customer()
  await chief.post(`/api/users/u/${user.id}/baned_user/`)
  const refused = { code: 403, msg: 'Failed to switch user' }
  expect(await admin.post(SWITCH, { user_id: user.id })).toMatchObject(refused)
  expect(await admin.post(SWITCH, { user_id: other.user.id })).toMatchObject(refused)
  expect(await admin.post(SWITCH, { user_id: admin.user.id })).toMatchObject(refused)
  expect((await admin.post(SWITCH, { user_id: 999_999 })).code).toBe(404)
  expect((await admin.get(ME)).data).toMatchObject({ id: admin.user.id })
})

test('a visit ends with the administrator’s rights, session or password', async () => {
  const { user } = await shop.customer()
  const visit = async () => {
    const admin = await shop.admin()
    await admin.post(SWITCH, { user_id: user.id })
    expect((await admin.get(ME)).code).toBe(2000)
    return admin
  }
  const demoted = await visit()
  await chief.put(`/api/users/u/${demoted.user.id}/`, { is_superuser: false })
  expect((await demoted.get(ME)).code).toBe(401)
  expect((await demoted.post(BACK)).code).toBe(401)

  const banned = await visit()
  await chief.post(`/api/users/u/${banned.user.id}/baned_user/`)
  expect((await banned.get(ME)).code).toBe(401)

  const reset = await visit()
  await chief.post(`/api/users/u/${reset.user.id}/change_password/`, { password: TEST_PASSWORD })
  expect((await reset.get(ME)).code).toBe(401)
})

test('logging out while visiting ends the own session as well', async () => {
  const admin = await shop.admin()
  const own = admin.cookies.get(SESSION_COOKIE) ?? ''
  const { user } = await shop.customer()
  await admin.post(SWITCH, { user_id: user.id })
  await admin.get('/api/auth/logout')
  const beside = shop.visitor()
  beside.cookies.set(SESSION_COOKIE, own)
  expect((await beside.get(ME)).code).toBe(401)
})

test('a visitor through a user’s eyes leaves no key, password or chat account behind, and spends no coins', async () => {
  const admin = await shop.admin()
  const { user } = await shop.customer()
  await admin.post(SWITCH, { user_id: user.id })
  const refused = { code: 403, msg: "Not while you are viewing another user's account" }
  const password = TEST_PASSWORD
  expect(await admin.post('/api/users/api_keys/', { name: 'mine', scopes: ['read'], password })).toMatchObject(refused)
  const form = { old_password: TEST_PASSWORD, new_password: 'Other#2026' }
  expect(await admin.post('/api/users/change_password', form)).toMatchObject(refused)
  for (const path of ['/api/auth/discord/bind', '/api/auth/discord/unbind', '/api/users/delete_account'])
    expect(await admin.post(path, { password }), path).toMatchObject(refused)
  const email = 'other@example.com'
  expect(await admin.post('/api/users/change_email_code', { email, password })).toMatchObject(refused)
  expect(await admin.get('/api/users/u/data_export')).toMatchObject(refused)
  expect(await admin.post('/api/rewards/gift_card/exchange/', { mount: '10', point: 10 })).toMatchObject(refused)
})
