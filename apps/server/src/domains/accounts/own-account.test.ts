import { and, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { expect, test, describe } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import type { TestClient } from '../../testing/client.ts'
import { mailJobs } from '../mail/index.ts'
import { rewardsQueues } from '../rewards/queues.ts'
import { mailChoices } from '../mail/tables.ts'
import {
  accountRoutesWithPorts,
  visitorFromAnywhere,
  type MailedCode,
  mailedCode,
  PASSWORD,
  signUpForm,
  wrongCode
} from './accounts.fixture.ts'
import { apiKeys, users, emailCodes } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import { pointRecords } from '../rewards/tables.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs, queues: rewardsQueues }))

const LOGIN = '/api/auth/login'
const CODE = '/api/users/change_email_code'
const CHANGE = '/api/users/change_email'
const password = TEST_PASSWORD
type Customer = Awaited<ReturnType<TestShop['customer']>>

/** A customer with its own address, so that limits for each client do not affect other tests. */
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
  // Updates what the platform finds by the address.
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
  // Switched off by the link of a mail to the new address.
  await shop.ctx.db.insert(mailChoices).values({ address: email, off: ['proxies'] })
  const code = await codeFor(client, email)
  expect((await client.post(CHANGE, { email, ...code, password })).code).toBe(2000)
  expect(await client.get(SETTINGS)).toMatchObject({ data: { payments: true, proxies: false, expiry: false } })
  expect(await shop.ctx.db.$count(mailChoices, eq(mailChoices.address, client.user.email))).toBe(0)
})

test('the reply for a taken address is the same; its owner is notified and gets no code', async () => {
  const client = await customerFromAnywhere()
  const owner = await shop.customer()
  const taken = await client.post<object>(CODE, { email: owner.user.email, password })
  expect(taken).toMatchObject({ code: 2000, data: { email_code_id: expect.any(String) } })
  const [mail] = await shop.outbox.waitFor(owner.user.email)
  expect(mail?.subject).toBe('You already have an account')
  const same = await client.post(CODE, { email: client.user.email, password })
  expect(same).toMatchObject({ code: 400, data: { errors: { email: 'This is already your email address' } } })
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

test('every change of a password is mailed', async () => {
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
  // Without the password, a thief cannot end the session in which the owner may have noticed the theft.
  expect(await end(client)).toMatchObject({ code: 400, data: { errors: { password: 'Please enter your password!' } } })
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
  // Another browser was used last, but the current session is listed first.
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

describe('signing up', () => {
  const SIGN_UP = '/api/users/u/'

  test('a mailed code makes an account, which is logged in', async () => {
    const visitor = visitorFromAnywhere(shop)
    const code = await mailedCode(shop, visitor, 'New@Example.com', 'register')
    const reply = await visitor.post(SIGN_UP, signUpForm('Newbie', 'new@example.com', code))
    expect(reply).toMatchObject({ status: 200, code: 2000, data: { username: 'Newbie', level: 0, reward_points: 0 } })
    expect(JSON.stringify(reply.data)).not.toContain('argon2')
    expect(await visitor.get('/api/auth/login')).toMatchObject({ data: { username: 'Newbie', impersonated_by: null } })
    const again = await visitor.post('/api/auth/login', { username: 'NEW@example.com', password: PASSWORD })
    expect(again.code).toBe(2000)
  })

  test('mails come in the language of the page that signed up, or else of the browser', async () => {
    const signUps: [name: string, more: object, header: string, language: string][] = [
      ['Reader1', {}, 'zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
      ['Reader2', { language: 'en' }, 'zh-CN', 'en'],
      ['Reader3', {}, 'fr', 'en']
    ]
    for (const [name, more, header, language] of signUps) {
      const visitor = visitorFromAnywhere(shop)
      const email = `${name}@example.com`.toLowerCase()
      const code = await mailedCode(shop, visitor, email, 'register')
      const reply = await visitor.post(SIGN_UP, signUpForm(name, email, code, more), { 'accept-language': header })
      expect(reply.code, name).toBe(2000)
      const [user] = await shop.ctx.db.select().from(users).where(eq(users.email, email))
      expect(user?.language, name).toBe(language)
    }
  })

  test('a code works once, and for its own address only', async () => {
    const visitor = visitorFromAnywhere(shop)
    const code = await mailedCode(shop, visitor, 'once@example.com', 'register')
    const other = await visitor.post(SIGN_UP, signUpForm('Once', 'other@example.com', code))
    const wrong = 'The verification code is not correct or has expired'
    expect(other).toMatchObject({ code: 400, msg: wrong, data: { errors: { email_code: wrong } } })
    expect((await visitor.post(SIGN_UP, signUpForm('Once', 'once@example.com', code))).code).toBe(2000)
    expect((await visitor.post(SIGN_UP, signUpForm('Once2', 'once@example.com', code))).code).toBe(400)
  })

  test('after five wrong tries the right code is wrong as well, even when they come at once', async () => {
    const visitor = visitorFromAnywhere(shop)
    const code = await mailedCode(shop, visitor, 'tries@example.com', 'register')
    const wrong = signUpForm('Tries', 'tries@example.com', wrongCode(code))
    const replies = await Promise.all(Array.from({ length: 8 }, () => visitor.post(SIGN_UP, wrong)))
    expect(replies.every(reply => reply.code === 400)).toBe(true)
    expect((await visitor.post(SIGN_UP, signUpForm('Tries', 'tries@example.com', code))).code).toBe(400)
    const [row] = await shop.ctx.db.select().from(emailCodes).where(eq(emailCodes.id, code.email_code_id))
    expect(row?.attempts).toBe(5)
  })

  test('a refused sign-up leaves the code usable', async () => {
    await shop.customer({ username: 'Taken1' })
    const visitor = visitorFromAnywhere(shop)
    const code = await mailedCode(shop, visitor, 'keep@example.com', 'register')
    const taken = await visitor.post(SIGN_UP, signUpForm('tAKEN1', 'keep@example.com', code))
    expect(taken).toMatchObject({ status: 409, code: 409, msg: 'This username is already taken' })
    expect((await visitor.post(SIGN_UP, signUpForm('Keep1', 'keep@example.com', code))).code).toBe(2000)
  })

  test('one code asks for no more than twenty names, also at once', async () => {
    const taken = await shop.customer()
    const visitor = visitorFromAnywhere(shop)
    const code = await mailedCode(shop, visitor, 'curious@example.com', 'register')
    const ask = (name: string) => visitor.post(SIGN_UP, signUpForm(name, 'curious@example.com', code))
    for (let nth = 0; nth < 15; nth++) expect((await ask(taken.user.username)).status).toBe(409)
    const atOnce = await Promise.all(Array.from({ length: 8 }, () => ask(taken.user.username)))
    // Each counts before it is tried, so fewer of the concurrent ones may pass, but never more.
    expect(atOnce.filter(reply => reply.status === 429).length).toBeGreaterThanOrEqual(3)
    expect(await ask('Curious')).toMatchObject({ status: 429, data: { reason: 'too_many' } })
    shop.advance(61_000)
    const next = await mailedCode(shop, visitor, 'curious@example.com', 'register')
    expect((await visitor.post(SIGN_UP, signUpForm('Curious', 'curious@example.com', next))).code).toBe(2000)
  })

  test('of two sign-ups of one name at once, one wins and the other is a conflict', async () => {
    const one = visitorFromAnywhere(shop)
    const other = visitorFromAnywhere(shop)
    const codes = await Promise.all([
      mailedCode(shop, one, 'race1@example.com', 'register'),
      mailedCode(shop, other, 'race2@example.com', 'register')
    ])
    const replies = await Promise.all([
      one.post(SIGN_UP, signUpForm('Racer', 'race1@example.com', codes[0])),
      other.post(SIGN_UP, signUpForm('racer', 'race2@example.com', codes[1]))
    ])
    expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 2000])
    expect(await shop.ctx.db.$count(users, sql`lower(${users.username}) = 'racer'`)).toBe(1)
  })

  test('one code used twice at once makes one account', async () => {
    const visitor = visitorFromAnywhere(shop)
    const code = await mailedCode(shop, visitor, 'twice@example.com', 'register')
    const replies = await Promise.all(
      ['Twice1', 'Twice2', 'Twice3'].map(name => visitor.post(SIGN_UP, signUpForm(name, 'twice@example.com', code)))
    )
    expect(replies.filter(reply => reply.code === 2000)).toHaveLength(1)
    expect(await shop.ctx.db.$count(users, eq(users.email, 'twice@example.com'))).toBe(1)
  })

  test('an invite code counts the invitation, once, and earns nothing before the first payment', async () => {
    const inviter = await shop.customer()
    const { data: invite } = await inviter.get<{ invite_code: string; invite_url: string }>('/api/users/invite_code')
    expect(invite.invite_url).toBe(`http://shop.example.com/createAccount?invite_code=${invite.invite_code}`)
    const visitor = visitorFromAnywhere(shop)
    const code = await mailedCode(shop, visitor, 'guest@example.com', 'register')
    const unknown = await visitor.post(
      SIGN_UP,
      signUpForm('Guest1', 'guest@example.com', code, { invite_code: 'nonsense' })
    )
    const said = 'This invite code does not exist'
    expect(unknown).toMatchObject({ code: 400, msg: said, data: { errors: { invite_code: said } } })
    const form = signUpForm('Guest1', 'guest@example.com', code, { invite_code: invite.invite_code.toUpperCase() })
    expect((await visitor.post(SIGN_UP, form)).code).toBe(2000)
    expect(await inviter.get('/api/auth/login')).toMatchObject({ data: { invite_count: 1, level_points: 0 } })
    const log = await inviter.get('/api/users/invite_log?limit=10&offset=0')
    expect(log.data).toMatchObject({ total: 1, limit: 10, offset: 0, data: [{ username: 'Guest1' }] })
    const records = await shop.ctx.db.select().from(pointRecords).where(eq(pointRecords.userId, inviter.user.id))
    expect(records).toEqual([])
  })

  type Case = [field: string, change: object, message: string]

  test.each<Case>([
    ['username', { username: undefined }, 'Please input username'],
    ['username', { username: 'abc' }, 'Length should be 4 to 10'],
    ['username', { username: 'abcdefghijk' }, 'Length should be 4 to 10'],
    ['username', { username: 'ab_cd' }, 'Can only contain letters and numbers'],
    ['username', { username: '12345' }, 'Must contain at least one letter'],
    ['email', { email: '' }, 'Please input email'],
    ['email', { email: 'nobody' }, 'Please input correct email format'],
    ['email_code', { email_code: '' }, 'Please input code'],
    ['password', { password: '' }, 'Enter a password'],
    ['repassword', { repassword: '' }, 'Please input re-password'],
    ['repassword', { repassword: 'Abcdef#2' }, 'Password not consistent'],
    ...['Abcde#1', 'abcdef#1', 'ABCDEF#1', 'Abcdefg#', 'Abcdefg1', `${'Abcdef#1'.repeat(2)}abcde`].map(
      (password): Case => [
        'password',
        { password, repassword: password },
        'Password must contain at least one lowercase letter, one uppercase letter, one number, one special character and length should be 8 to 20'
      ]
    )
  ])('the form is refused with the field and its words: %s %j', async (field, change, message) => {
    const form = signUpForm('Former', 'former@example.com', {
      email_code: '123456',
      email_code_id: '00000000-0000-4000-8000-000000000000'
    })
    const reply = await shop.visitor().post<{ errors: Record<string, string> }>(SIGN_UP, { ...form, ...change })
    expect(reply).toMatchObject({ status: 400, code: 400 })
    expect(reply.data.errors[field]).toBe(message)
  })
})
