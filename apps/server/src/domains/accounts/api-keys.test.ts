import { route, routes } from '@netlet/contract'
import { z } from 'zod'
import { and, eq } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { ok } from '../../infra/result.ts'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import { auditLog } from '../../infra/tables.ts'
import { mailJobs } from '../mail/index.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { apiKeys, users } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const shop = useStarted(() =>
  startTestShop({
    jobs: mailJobs,
    routes(mount, parts) {
      accountRoutesWithPorts(mount, parts)
      // Stands for any call that a key with the other scope may make.
      mount({ ...routes.accounts.logout, path: '/api/test/renew', access: 'user', scope: 'renew' }, async () =>
        ok(null)
      )
      const rights = z.object({ isSuperuser: z.boolean() })
      mount(
        route('GET', '/api/test/rights', { summary: '', access: 'user', scope: 'read', reply: rights }),
        async call => ok({ isSuperuser: call.caller.isSuperuser })
      )
      mount(
        route('GET', '/api/test/secret', {
          summary: '',
          access: 'user',
          scope: 'read',
          reveals: 'credentials',
          reply: z.null()
        }),
        async () => ok(null)
      )
    }
  })
)

const KEYS = '/api/users/api_keys/'
const password = TEST_PASSWORD
const ME = '/api/users/u/user_info/'
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
type Customer = Awaited<ReturnType<TestShop['customer']>>
type Made = { id: number; key: string; hint: string }

/** Stores keys as if the user had created them. */
const addKeys = (userId: number, count: number, more: { revokedAt?: Date } = {}) => {
  const key = { userId, name: 'loop', hint: 'nlk_', scopes: ['read'], createdAt: shop.ctx.now(), ...more }
  const rows = Array.from({ length: count }, (_, n) => ({ ...key, keyHash: Buffer.from(`${userId} ${n}`) }))
  return shop.ctx.db.insert(apiKeys).values(rows)
}

test('keys that are made and revoked in a loop end at forty a day', async () => {
  const client = await shop.customer()
  const make = () => client.post<Made>(KEYS, { name: 'loop', scopes: ['read'], password })
  await addKeys(client.user.id, 39, { revokedAt: shop.ctx.now() })
  const { data } = await make()
  expect((await client.delete(`${KEYS}${data.id}/`)).code).toBe(2000)
  expect(await make()).toMatchObject({
    status: 429,
    msg: 'You have created 40 within a day. Please try again tomorrow.'
  })
  shop.advance(DAY + MINUTE)
  expect((await make()).code).toBe(2000)
})

test('a key is shown once, stored hashed, and calls what its scope allows', async () => {
  const client = await shop.customer()
  const made = await client.post<Made>(KEYS, { name: 'script', scopes: ['read', 'read'], password })
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
  expect((await program.post(KEYS, { name: 'more', scopes: ['read'], password }, bearer(key))).code).toBe(403)
  expect((await program.post('/api/auth/discord/bind', { password }, bearer(key))).code).toBe(403)
  expect((await program.get(ME, bearer(`${key}x`))).code).toBe(401)
  expect((await program.get(ME, { authorization: `Basic ${key}` })).code).toBe(401)
})

test('asking who is signed in is never refused: visitors and API keys get null', async () => {
  const WHO = '/api/auth/session/'
  expect(await shop.visitor().get(WHO)).toMatchObject({ status: 200, data: null })
  const client = await shop.customer()
  expect((await client.get(WHO)).data).toMatchObject({ id: client.user.id })
  const { data } = await client.post<Made>(KEYS, { name: 'renews', scopes: ['renew'], password })
  expect(await shop.visitor().get(WHO, bearer(data.key))).toMatchObject({ status: 200, data: null })
})

test('an administrator’s key opens no door of the console, and is a customer’s', async () => {
  const admin = await shop.admin()
  const { data } = await admin.post<Made>(KEYS, { name: 'script', scopes: ['read', 'renew'], password })
  expect((await shop.visitor().get('/api/users/u/', bearer(data.key))).code).toBe(403)
  expect((await shop.visitor().get('/api/test/renew', bearer(data.key))).code).toBe(2000)
  // Rights of a call depend on the authenticated caller.
  expect((await shop.visitor().get('/api/test/rights', bearer(data.key))).data).toEqual({ isSuperuser: false })
})

test('its last use is written at most once a minute', async () => {
  const client = await shop.customer()
  const { data } = await client.post<Made>(KEYS, { name: 'busy', scopes: ['read'], password })
  const lastUsed = async () => {
    await shop.visitor().get(ME, bearer(data.key))
    const [row] = await shop.ctx.db.select().from(apiKeys).where(eq(apiKeys.id, data.id))
    return row?.lastUsedAt?.getTime() ?? 0
  }
  // The beginning of a minute.
  shop.advance(MINUTE - (shop.ctx.now().getTime() % MINUTE))
  const first = await lastUsed()
  shop.advance(MINUTE / 2)
  expect(await lastUsed()).toBe(first)
  shop.advance(MINUTE)
  expect(await lastUsed()).toBeGreaterThan(first)
})

test('a revoked key and a banned user’s key are no keys', async () => {
  const client = await shop.customer()
  const { data: one } = await client.post<Made>(KEYS, { name: 'one', scopes: ['read'], password })
  const { data: two } = await client.post<Made>(KEYS, { name: 'two', scopes: ['read'], password })
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

test('a form without a name or a scope is refused; twenty keys are the most, even when asked at once', async () => {
  const client = await shop.customer()
  expect(await client.post(KEYS, { name: ' ', scopes: [], password })).toMatchObject({
    code: 400,
    data: { errors: { name: 'Please enter a name', scopes: 'Please select' } }
  })
  expect((await client.post(KEYS, { name: 'x', scopes: ['admin'], password })).code).toBe(400)
  const make = (i: number) => client.post(KEYS, { name: `key ${i}`, scopes: ['read'], password })
  await addKeys(client.user.id, 17)
  const replies = await Promise.all(Array.from({ length: 6 }, (_, i) => make(i)))
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(3)
  expect(replies.filter(reply => reply.code === 409)).toHaveLength(3)
})

const auditOf = async (keyId: number) => {
  const rows = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.targetType, 'api_key'), eq(auditLog.targetId, String(keyId))))
    .orderBy(auditLog.id)
  return rows.map(row => row.action)
}

test('making one asks for the password, and its owner is mailed', async () => {
  const client = await shop.customer()
  expect(await client.post(KEYS, { name: 'mine', scopes: ['read'] })).toMatchObject({
    code: 400,
    data: { errors: { password: 'Please enter your password!' } }
  })
  expect(await client.post(KEYS, { name: 'mine', scopes: ['read'], password: 'Guess#2026' })).toMatchObject({
    code: 400,
    data: { errors: { password: 'The password is not correct' } }
  })
  await client.post(KEYS, { name: 'mine', scopes: ['read'], password })
  const [mail] = await shop.outbox.waitFor(client.user.email)
  expect(mail?.subject).toBe('A new API key for your account')
  expect(mail?.text).toContain('mine')
})

test('keys end with the password, a reset by an administrator, a ban and other rights, and their owner is told', async () => {
  const boss = await shop.admin()
  const U = '/api/users/u'
  const ends: Record<string, (client: Customer) => Promise<{ code: number }>> = {
    change: client => client.post('/api/users/change_password', { old_password: password, new_password: 'Other#2026' }),
    set: client => boss.post(`${U}/${client.user.id}/change_password/`, { password: 'Other#2026' }),
    edit: client => boss.put(`${U}/${client.user.id}/`, { password: 'Other#2026' }),
    ban: client => boss.post(`${U}/${client.user.id}/baned_user/`),
    banByForm: client => boss.put(`${U}/${client.user.id}/`, { is_active: false }),
    promotion: client => boss.put(`${U}/${client.user.id}/`, { is_superuser: true })
  }
  for (const [name, end] of Object.entries(ends)) {
    const client = await shop.customer()
    const { data } = await client.post<Made>(KEYS, { name: `key of ${name}`, scopes: ['read'], password })
    expect((await shop.visitor().get(ME, bearer(data.key))).code, name).toBe(2000)
    expect((await end(client)).code, name).toBe(2000)
    // Lifting the ban does not restore it.
    await boss.post(`${U}/${client.user.id}/unbaned_user/`)
    expect((await shop.visitor().get(ME, bearer(data.key))).code, name).toBe(401)
    expect((await auditOf(data.id)).at(-1), name).toBe('api_key.end')
    await shop.drain()
    const mails = shop.outbox.mails.filter(mail => mail.to === client.user.email)
    const ended = mails.find(mail => mail.subject === 'Your API keys were revoked')
    expect(ended?.text, name).toContain(`key of ${name}`)
  }
})

test('a key that its owner had revoked does not end again, and is not in the mail', async () => {
  const client = await shop.customer()
  const { data: old } = await client.post<Made>(KEYS, { name: 'withdrawn', scopes: ['read'], password })
  await client.delete(`${KEYS}${old.id}/`)
  await client.post<Made>(KEYS, { name: 'used', scopes: ['read'], password })
  await client.post('/api/users/change_password', { old_password: password, new_password: 'Other#2026' })
  expect((await auditOf(old.id)).at(-1)).toBe('api_key.revoke')
  await shop.drain()
  const mails = shop.outbox.mails.filter(mail => mail.to === client.user.email)
  const ended = mails.find(mail => mail.subject === 'Your API keys were revoked')
  expect(ended?.text).toContain('used')
  expect(ended?.text).not.toContain('withdrawn')
})

test('its use from each network is audited once, and reading credentials once a network and day', async () => {
  const client = await shop.customer()
  const { data } = await client.post<Made>(KEYS, { name: 'audited', scopes: ['read'], password })
  const home = shop.visitor({ ip: '2001:db8:9:1::5' })
  const neighbour = shop.visitor({ ip: '2001:db8:9:1::6' })
  const away = shop.visitor({ ip: '198.51.100.9' })
  for (const program of [home, neighbour, home, away, away]) await program.get(ME, bearer(data.key))
  const used = ['api_key.create', 'api_key.use_new_network', 'api_key.use_new_network']
  expect(await auditOf(data.id)).toEqual(used)
  const read = (program: typeof home) => program.get('/api/test/secret', bearer(data.key))
  await Promise.all([read(home), read(home), read(neighbour)])
  await read(away)
  expect(await auditOf(data.id)).toEqual([...used, 'api_key.read_credentials', 'api_key.read_credentials'])
  shop.advance(DAY)
  await read(home)
  expect((await auditOf(data.id)).filter(action => action === 'api_key.read_credentials')).toHaveLength(3)
})

test('a key that calls too often waits, and is told for how long; other keys do not', async () => {
  const client = await shop.customer()
  // A new minute begins, so that none ends during the calls.
  shop.advance(MINUTE - (shop.ctx.now().getTime() % MINUTE))
  const make = async (name: string) => (await client.post<Made>(KEYS, { name, scopes: ['read'], password })).data.key
  const [busy, other] = [await make('busy'), await make('other')]
  const now = shop.ctx.now().getTime()
  await shop.ctx.db
    .update(apiKeys)
    .set({ calls: 115, countedSince: new Date(now - (now % MINUTE)) })
    .where(eq(apiKeys.name, 'busy'))
  const replies = await Promise.all(Array.from({ length: 12 }, () => shop.visitor().get(ME, bearer(busy))))
  const refused = replies.find(reply => reply.code === 429)
  expect(replies.filter(reply => reply.code === 2000).length).toBe(5)
  expect(refused?.data).toMatchObject({ reason: 'key_rate_limited' })
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  expect((await shop.visitor().get(ME, bearer(other))).code).toBe(2000)
  expect((await client.get(ME)).code).toBe(2000)
  shop.advance(MINUTE)
  expect((await shop.visitor().get(ME, bearer(busy))).code).toBe(2000)
})
