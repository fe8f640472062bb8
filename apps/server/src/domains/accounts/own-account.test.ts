import { and, eq, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import type { TestClient } from '../../testing/client.ts'
import { mailJobs } from '../mail/index.ts'
import { rewardsQueues } from '../rewards/queues.ts'
import { mailChoices } from '../mail/tables.ts'
import { accountRoutesWithPorts, visitorFromAnywhere, type MailedCode } from './accounts.fixture.ts'
import { apiKeys, users } from './tables.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs, queues: rewardsQueues })
})
afterAll(() => shop.close())

const LOGIN = '/api/auth/login'
const CODE = '/api/users/change_email_code'
const CHANGE = '/api/users/change_email'
const password = TEST_PASSWORD
type Customer = Awaited<ReturnType<TestShop['customer']>>

/** A customer at a browser of its own: limits per client do not make tests meet. */
async function customerFromAnywhere(): Promise<Customer> {
  const { user } = await shop.customer()
  const client = visitorFromAnywhere(shop)
  await client.post(LOGIN, { username: user.username, password })
  return { ...client, user }
}

async function codeFor(client: Customer, email: string): Promise<MailedCode> {
  const asked = await client.post<{ email_code_id: string }>(CODE, { email, password })
  expect(asked.code, asked.msg).toBe(2000)
  const [mail] = await shop.outbox.waitFor(email)
  return { ...asked.data, email_code: /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '' }
}

test('the address changes by the password and a code to the new one, and the old one is told', async () => {
  const client = await customerFromAnywhere()
  const { user } = client
  const email = 'moved@example.com'
  expect(await client.post(CODE, { email, password: 'Guess#2026' })).toMatchObject({
    code: 400,
    data: { errors: { password: 'The password is not correct' } }
  })
  const code = await codeFor(client, email)
  expect(await client.post(CHANGE, { email, ...code, password: 'Guess#2026' })).toMatchObject({ code: 400 })
  expect(await client.post(CHANGE, { email: 'other@example.com', ...code, password })).toMatchObject({
    code: 400,
    data: { errors: { email_code: 'The verification code is not correct or has expired' } }
  })
  expect((await client.post(CHANGE, { email, ...code, password })).code).toBe(2000)
  expect((await client.post(CHANGE, { email, ...code, password })).code).toBe(400)
  expect(await client.get(LOGIN)).toMatchObject({ data: { email } })
  const [told] = await shop.outbox.waitFor(user.email)
  expect(told).toMatchObject({ subject: 'Your email address was changed' })
  expect(told?.text).toContain(email)
  const [entry] = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.targetId, String(user.id)))
  expect(entry).toMatchObject({ action: 'user.change_email', before: { email: user.email }, after: { email } })
  // What the platform knows by the address follows.
  const { rows } = await shop.ctx.db.execute(
    sql`select name from pgboss.job where singleton_key = ${String(user.id)} order by name`
  )
  expect(rows).toEqual([{ name: 'holder-platform-codes' }, { name: 'tag-platform-customer' }])
})

test('mails that were switched off stay so at another address, and those that it had switched off itself', async () => {
  const client = await customerFromAnywhere()
  const email = 'quiet@example.com'
  const SETTINGS = '/api/users/u/mail_settings/'
  await client.put(SETTINGS, { payments: true, proxies: true, expiry: false })
  // By the link of a mail that went there.
  await shop.ctx.db.insert(mailChoices).values({ address: email, off: ['proxies'] })
  const code = await codeFor(client, email)
  expect((await client.post(CHANGE, { email, ...code, password })).code).toBe(2000)
  expect(await client.get(SETTINGS)).toMatchObject({ data: { payments: true, proxies: false, expiry: false } })
  expect(await shop.ctx.db.$count(mailChoices, eq(mailChoices.address, client.user.email))).toBe(0)
})

test('an address that somebody has is answered alike; its owner is told, and gets no code', async () => {
  const client = await customerFromAnywhere()
  const owner = await shop.customer()
  const taken = await client.post<object>(CODE, { email: owner.user.email, password })
  expect(taken).toMatchObject({ code: 2000, data: { email_code_id: expect.any(String) } })
  const [mail] = await shop.outbox.waitFor(owner.user.email)
  expect(mail?.subject).toBe('You have an account already')
  const same = await client.post(CODE, { email: client.user.email, password })
  expect(same).toMatchObject({ code: 400, data: { errors: { email: 'This is your email address already' } } })
})

test('an address that was taken between code and change is a conflict, and the code of another purpose is none', async () => {
  const client = await customerFromAnywhere()
  const email = 'contested@example.com'
  const code = await codeFor(client, email)
  const visitor = visitorFromAnywhere(shop)
  const form = { username: 'Thief1', email, ...code, password: 'Abcdef#1', repassword: 'Abcdef#1' }
  expect((await visitor.post('/api/users/u/', form)).code).toBe(400)
  await shop.customer({ email: email.toUpperCase() })
  expect(await client.post(CHANGE, { email, ...code, password })).toMatchObject({
    code: 409,
    msg: 'This email is already registered'
  })
  expect(await client.get(LOGIN)).toMatchObject({ data: { email: client.user.email } })
})

test('a changed password is mailed, whoever changed it', async () => {
  const client = await shop.customer()
  await client.post('/api/users/change_password', { old_password: password, new_password: 'Other#2026' })
  const [own] = await shop.outbox.waitFor(client.user.email)
  expect(own?.subject).toBe('Your password was changed')
  const boss = await shop.admin()
  const other = await shop.customer()
  await shop.ctx.db.update(users).set({ language: 'zh-CN' }).where(eq(users.id, other.user.id))
  await boss.put(`/api/users/u/${other.user.id}/`, { password: 'Other#2026', email: 'new.of@example.com' })
  const mails = await shop.outbox.waitFor(other.user.email, 2)
  expect(mails.map(mail => mail.subject).toSorted()).toEqual(['您的密码已更改', '您的邮箱地址已更改'].toSorted())
})

type Listed = { id: number; device: string | null; location: string | null; is_current: boolean }

test('the own sessions are listed with device and place, and ended one by one', async () => {
  const client = await shop.customer()
  const away = shop.visitor({ ip: '8.8.8.8' })
  const login = { username: client.user.username, password }
  await away.post(LOGIN, login, { 'user-agent': 'Browser of a friend' })
  const { data } = await client.get<Listed[]>('/api/users/sessions/')
  expect(data).toHaveLength(2)
  const there = data.find(one => !one.is_current)
  expect(there).toMatchObject({ device: 'Browser of a friend', location: 'US', ip: '8.8.8.8' })
  const other = await shop.customer()
  const end = (by: TestClient, secret?: string) =>
    by.delete(`/api/users/sessions/${there?.id}/`, {}, secret === undefined ? undefined : { password: secret })
  expect((await end(other, password)).code).toBe(404)
  // Without the password nobody ends the session in which the owner may have noticed a theft.
  expect(await end(client)).toMatchObject({
    code: 400,
    data: { errors: { password: 'Please enter your password!' } }
  })
  expect(await end(client, 'Guess#2026')).toMatchObject({ code: 400, msg: 'The password is not correct' })
  expect((await away.get(LOGIN)).code).toBe(2000)
  expect((await end(client, password)).code).toBe(2000)
  expect((await end(client, password)).code).toBe(404)
  expect((await away.get(LOGIN)).code).toBe(401)
  expect((await client.get(LOGIN)).code).toBe(2000)
})

test('all other sessions end at once for the password, and nothing else does', async () => {
  const OTHERS = '/api/users/sessions/end_others/'
  const client = await shop.customer()
  const login = { username: client.user.username, password }
  const away = [shop.visitor({ ip: '8.8.8.8' }), shop.visitor({ ip: '8.8.4.4' }), shop.visitor({ ip: '9.9.9.9' })]
  for (const browser of away) await browser.post(LOGIN, login)
  await client.post('/api/users/api_keys/', { name: 'Crawler', scopes: ['read'], password })
  const boss = await shop.admin()
  await boss.post('/api/users/admin/switch-user', { user_id: client.user.id })
  const stranger = await shop.customer()
  // Used last by another browser: the present session is listed first all the same.
  const { data } = await client.get<Listed[]>('/api/users/sessions/')
  expect(data.map(one => one.is_current)).toEqual([true, false, false, false])
  expect(await client.post(OTHERS, { password: 'Guess#2026' })).toMatchObject({
    code: 400,
    data: { errors: { password: 'The password is not correct' } }
  })
  expect((await away[0]?.get(LOGIN))?.code).toBe(2000)
  expect((await boss.post(OTHERS, { password })).code).toBe(403)
  expect(await client.post(OTHERS, { password })).toMatchObject({ code: 2000, data: { ended: 3 } })
  for (const browser of away) expect((await browser.get(LOGIN)).code).toBe(401)
  for (const browser of [client, boss, stranger]) expect((await browser.get(LOGIN)).code).toBe(2000)
  expect(await shop.ctx.db.$count(apiKeys, and(eq(apiKeys.userId, client.user.id), isNull(apiKeys.revokedAt)))).toBe(1)
  expect(await client.post(OTHERS, { password })).toMatchObject({ code: 2000, data: { ended: 0 } })
  const entries = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.targetId, String(client.user.id)), eq(auditLog.action, 'user.end_sessions')))
  expect(entries).toMatchObject([{ actorId: client.user.id, before: { sessions: 4 }, after: { sessions: 1 } }])
})

test('an administrator who views the shop as a user is not among the sessions, and cannot be ended as one', async () => {
  const boss = await shop.admin()
  const client = await shop.customer()
  await boss.post('/api/users/admin/switch-user', { user_id: client.user.id })
  const { data } = await client.get<Listed[]>('/api/users/sessions/')
  expect(data.map(one => one.is_current)).toEqual([true])
})
