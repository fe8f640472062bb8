import { and, desc, eq } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import { useStarted } from '../../testing/use-started.ts'
import { mailJobs } from '../mail/index.ts'
import { writeSettings } from '../settings/index.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { warnOfEndingKeys } from './api-keys.ts'
import { apiKeys, users } from './tables.ts'

const shop = useStarted(() => startTestShop({ jobs: mailJobs, routes: accountRoutesWithPorts }))

const TOKENS = '/api/users/api_tokens/'
const KEYS = '/api/users/api_keys/'
const password = TEST_PASSWORD
type Operator = Awaited<ReturnType<TestShop['admin']>>
type Made = { id: number; key: string; expires_at: string; hint: string }

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const make = async (boss: Operator, permissions: string[], more: object = {}): Promise<Made> => {
  const made = await boss.post<Made>(TOKENS, { name: 'deploy', permissions, ...more })
  expect(made.msg).toBe('success')
  return made.data
}
const read = (key: string) => shop.visitor().get('/api/users/u/', bearer(key))
const entriesOf = (id: number) =>
  shop.ctx.db
    .select({ action: auditLog.action, via: auditLog.via, after: auditLog.after })
    .from(auditLog)
    .where(and(eq(auditLog.targetType, 'api_key'), eq(auditLog.targetId, String(id))))
    .orderBy(auditLog.id)

test('a token is shown once, stored hashed, ends after ninety days, and does what it names', async () => {
  const boss = await shop.admin()
  const { id, key, hint, expires_at } = await make(boss, ['users.view'])
  expect(key).toMatch(/^nlo_[\w-]{43}$/)
  expect(key.startsWith(hint)).toBe(true)
  expect(Math.round((Date.parse(expires_at) - shop.ctx.now().getTime()) / DAY)).toBe(90)
  expect(JSON.stringify(await shop.ctx.db.select().from(apiKeys))).not.toContain(key)

  expect(await read(key)).toMatchObject({ code: 2000 })
  const ban = await shop.visitor().post('/api/users/u/999999/baned_user/', undefined, bearer(key))
  expect(ban).toMatchObject({ code: 403, msg: 'This API token lacks the permission users.change' })
  expect((await shop.visitor().get('/api/users/sessions/', bearer(key))).data).toMatchObject({
    reason: 'key_not_allowed'
  })
  const [shown] = (await boss.get<object[]>(KEYS)).data
  expect(shown).toMatchObject({ permissions: ['users.view'], scopes: [], last_network: '127.0.0.1' })
  expect(await entriesOf(id)).toMatchObject([
    { action: 'api_key.make_token', via: null, after: { name: 'deploy', permissions: ['users.view'] } },
    { action: 'api_key.use_new_network', via: 'deploy' }
  ])
  shop.advance(90 * DAY - MINUTE)
  expect(await read(key)).toMatchObject({ code: 2000 })
  shop.advance(2 * MINUTE)
  expect(await read(key)).toMatchObject({ code: 401 })
})

test('what a token changes stands in the audit log as the token’s', async () => {
  const [boss, customer] = [await shop.admin(), await shop.customer()]
  const { key } = await make(boss, ['users.change'])
  const ban = await shop.visitor().post(`/api/users/u/${customer.user.id}/baned_user/`, undefined, bearer(key))
  expect(ban.code).toBe(2000)
  const [entry] = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.action, 'user.ban'))
    .orderBy(desc(auditLog.id))
  expect(entry).toMatchObject({ actorName: boss.user.username, via: 'deploy' })
})

test('a token has no more rights than its maker, lasts a year at most, and makes no other token', async () => {
  const boss = await shop.admin()
  await shop.ctx.db.update(users).set({ operatorRole: 'support' }).where(eq(users.id, boss.user.id))
  const refused = await boss.post(TOKENS, { name: 'more', permissions: ['orders.view', 'users.change'] })
  expect(refused).toMatchObject({ code: 403, data: { errors: { permissions: 'Your role does not allow this' } } })
  for (const wrong of [
    { permissions: ['operators.change'] },
    { permissions: [] },
    { permissions: ['x'] },
    { days: 366 }
  ])
    expect((await boss.post(TOKENS, { name: 'n', permissions: ['orders.view'], ...wrong })).code).toBe(400)
  const { key } = await make(boss, ['console.use'])
  const more = await shop.visitor().post(TOKENS, { name: 'more', permissions: ['console.use'] }, bearer(key))
  expect(more).toMatchObject({ code: 403, data: { reason: 'key_not_allowed' } })
  expect(await shop.visitor().post('/api/users/confirm', { password }, bearer(key))).toMatchObject({ code: 403 })
})

test('a token changes no operator, not even its maker', async () => {
  const boss = await shop.admin()
  const { key } = await make(boss, ['users.change'])
  const edit = { password: 'Changed#2026' }
  const own = await shop.visitor().post(`/api/users/u/${boss.user.id}/change_password/`, edit, bearer(key))
  expect(own).toMatchObject({ code: 403, data: { reason: 'role_not_allowed' } })
  const email = await shop.visitor().put(`/api/users/u/${boss.user.id}/`, { email: 'thief@example.com' }, bearer(key))
  expect(email).toMatchObject({ code: 403, data: { reason: 'role_not_allowed' } })
})

test('making one asks an old session for a confirmation, using one does not', async () => {
  const boss = await shop.admin()
  await writeSettings(shop.ctx, { operator_confirm_minutes: 10 })
  const { key } = await make(boss, ['users.change'])
  shop.advance(11 * MINUTE)
  const refused = await boss.post(TOKENS, { name: 'late', permissions: ['users.view'] })
  expect(refused).toMatchObject({ code: 403, data: { reason: 'confirmation_needed' } })
  expect(await shop.visitor().post('/api/users/u/999999/baned_user/', undefined, bearer(key))).toMatchObject({
    code: 404
  })
  await writeSettings(shop.ctx, { operator_confirm_minutes: 525_600 })
})

test.each([
  ['a new role', (chief: Operator, id: number) => chief.put(`/api/users/u/${id}/`, { operator_role: 'viewer' })],
  ['a ban', (chief: Operator, id: number) => chief.post(`/api/users/u/${id}/baned_user/`)],
  [
    'a new password',
    (_: Operator, __: number, boss: Operator) =>
      boss.post('/api/users/change_password', {
        old_password: password,
        new_password: 'Changed#2026x',
        re_new_password: 'Changed#2026x'
      })
  ],
  ['its revocation', async (_: Operator, __: number, boss: Operator, key: number) => boss.delete(`${KEYS}${key}/`)]
])('%s ends a token', async (_what, act) => {
  const [chief, boss] = [await shop.admin(), await shop.admin()]
  const { id, key } = await make(boss, ['users.view'])
  expect((await read(key)).code).toBe(2000)
  expect((await act(chief, boss.user.id, boss, id)).msg).toBe('success')
  expect((await read(key)).code).toBe(401)
  expect((await entriesOf(id)).at(-1)?.action).toMatch(/^api_key\.(end|revoke_token)$/)
})

test('a role that loses the permission, or an operator who needs a second factor, stops a token', async () => {
  const boss = await shop.admin()
  const { key } = await make(boss, ['users.change', 'users.view'])
  // As an upgrade that changes what a role may do.
  await shop.ctx.db.update(users).set({ operatorRole: 'viewer' }).where(eq(users.id, boss.user.id))
  const ban = await shop.visitor().post('/api/users/u/999999/baned_user/', undefined, bearer(key))
  expect(ban).toMatchObject({ code: 403, data: { reason: 'role_not_allowed' } })
  expect((await read(key)).code).toBe(2000)
  await writeSettings(shop.ctx, { operators_need_second_factor: true })
  await shop.ctx.db.update(users).set({ secondFactorDueAt: shop.ctx.now() }).where(eq(users.id, boss.user.id))
  expect((await read(key)).data).toMatchObject({ reason: 'second_factor_required' })
  await writeSettings(shop.ctx, { operators_need_second_factor: false })
})

test('customers make no tokens, and choose when a key ends; a week before, the owner gets one mail', async () => {
  const customer = await shop.customer()
  expect((await customer.post(TOKENS, { name: 'n', permissions: ['users.view'] })).code).toBe(403)
  const { data: forever } = await customer.post<Made>(KEYS, { name: 'forever', scopes: ['read'], password })
  expect(forever.expires_at).toBeNull()
  await customer.post<Made>(KEYS, { name: 'monthly', scopes: ['read'], days: 30, password })
  await customer.post<Made>(KEYS, { name: 'short', scopes: ['read'], days: 5, password })
  const mails = async () => {
    await Promise.all([warnOfEndingKeys(shop.ctx), warnOfEndingKeys(shop.ctx)])
    await shop.drain()
    return shop.outbox.mails.filter(({ to, subject }) => to === customer.user.email && /expires soon/.test(subject))
  }
  shop.advance(23 * DAY - MINUTE)
  expect(await mails()).toHaveLength(0)
  shop.advance(2 * MINUTE)
  expect((await mails()).map(({ subject }) => subject)).toEqual(['Your API key monthly expires soon'])
  shop.advance(DAY)
  expect(await mails()).toHaveLength(1)
})
