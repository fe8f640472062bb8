import { routes } from '@netlet/contract'
import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import { ok } from '../../infra/result.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { apiKeys, users } from './tables.ts'
import { auditLog } from '../../infra/tables.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({
    routes(mount, parts) {
      accountRoutesWithPorts(mount, parts)
      // Stands for whatever a key with the other scope may call.
      mount({ ...routes.accounts.logout, path: '/api/test/renew', access: 'user', scope: 'renew' }, async () =>
        ok(null)
      )
    }
  })
})
afterAll(() => shop.close())

const KEYS = '/api/users/api_keys/'
const ME = '/api/users/u/user_info/'
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
type Made = { id: number; key: string; hint: string }

test('a key is shown once, stored hashed, and calls what its scope allows', async () => {
  const client = await shop.customer()
  const made = await client.post<Made>(KEYS, { name: 'script', scopes: ['read', 'read'] })
  expect(made).toMatchObject({ code: 2000, data: { name: 'script', scopes: ['read'], last_used_at: null } })
  const { key, hint } = made.data
  expect(key).toMatch(/^nlk_[\w-]{43}$/)
  expect(key.startsWith(hint)).toBe(true)
  const list = await client.get(KEYS)
  expect(list.data).toMatchObject([{ name: 'script', hint }])
  expect(JSON.stringify(list.data)).not.toContain(key)
  expect(JSON.stringify(await shop.ctx.db.select().from(apiKeys))).not.toContain(key)

  const program = shop.visitor()
  expect(await program.get(ME, bearer(key))).toMatchObject({ code: 2000, data: { id: client.user.id } })
  expect((await program.get('/api/test/renew', bearer(key))).code).toBe(403)
  expect((await program.get(KEYS, bearer(key))).code).toBe(403)
  expect((await program.post(KEYS, { name: 'more', scopes: ['read'] }, bearer(key))).code).toBe(403)
  expect((await program.get('/api/auth/discord/login?mode=bind', bearer(key))).code).toBe(401)
  expect((await program.get(ME, bearer(`${key}x`))).code).toBe(401)
  expect((await program.get(ME, { authorization: `Basic ${key}` })).code).toBe(401)
})

test('an administrator’s key opens no door of the console', async () => {
  const admin = await shop.admin()
  const { data } = await admin.post<Made>(KEYS, { name: 'script', scopes: ['read', 'renew'] })
  expect((await shop.visitor().get('/api/users/u/', bearer(data.key))).code).toBe(403)
  expect((await shop.visitor().get('/api/test/renew', bearer(data.key))).code).toBe(2000)
})

test('a revoked key and a banned user’s key are no keys', async () => {
  const client = await shop.customer()
  const { data: one } = await client.post<Made>(KEYS, { name: 'one', scopes: ['read'] })
  const { data: two } = await client.post<Made>(KEYS, { name: 'two', scopes: ['read'] })
  const other = await shop.customer()
  expect((await other.delete(`${KEYS}${one.id}/`)).code).toBe(404)
  expect((await client.delete(`${KEYS}${one.id}/`)).code).toBe(2000)
  expect((await client.delete(`${KEYS}${one.id}/`)).code).toBe(404)
  const entries = await shop.ctx.db
    .select({ action: auditLog.action, target: auditLog.targetId, before: auditLog.before, after: auditLog.after })
    .from(auditLog)
    .where(and(eq(auditLog.actorName, client.user.username), eq(auditLog.targetType, 'api_key')))
    .orderBy(auditLog.id)
  expect(entries).toEqual([
    { action: 'api_key.create', target: String(one.id), before: null, after: { name: 'one', scopes: ['read'] } },
    { action: 'api_key.create', target: String(two.id), before: null, after: { name: 'two', scopes: ['read'] } },
    { action: 'api_key.revoke', target: String(one.id), before: { name: 'one', scopes: ['read'] }, after: null }
  ])
  const program = shop.visitor()
  expect((await program.get(ME, bearer(one.key))).code).toBe(401)
  expect((await program.get(ME, bearer(two.key))).code).toBe(2000)
  await shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, client.user.id))
  expect((await program.get(ME, bearer(two.key))).code).toBe(401)
})

test('its last use is written at most once a minute', async () => {
  const client = await shop.customer()
  const { data } = await client.post<Made>(KEYS, { name: 'busy', scopes: ['read'] })
  const lastUsed = async () => {
    const [row] = await shop.ctx.db.select().from(apiKeys).where(eq(apiKeys.id, data.id))
    return row?.lastUsedAt?.getTime() ?? 0
  }
  await shop.visitor().get(ME, bearer(data.key))
  const first = await lastUsed()
  expect(first).toBeGreaterThan(0)
  await shop.visitor().get(ME, bearer(data.key))
  expect(await lastUsed()).toBe(first)
  shop.advance(MINUTE + 1000)
  await shop.visitor().get(ME, bearer(data.key))
  expect(await lastUsed()).toBeGreaterThan(first)
})

test('a form without a name or a scope is refused; twenty keys are the most, even when asked at once', async () => {
  const client = await shop.customer()
  expect(await client.post(KEYS, { name: ' ', scopes: [] })).toMatchObject({
    code: 400,
    data: { errors: { name: 'Please enter a name', scopes: 'Please select' } }
  })
  expect((await client.post(KEYS, { name: 'x', scopes: ['admin'] })).code).toBe(400)
  const replies = await Promise.all(
    Array.from({ length: 25 }, (_, i) => client.post(KEYS, { name: `key ${i}`, scopes: ['read'] }))
  )
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(20)
  expect(replies.filter(reply => reply.code === 409)).toHaveLength(5)
})
