import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { pointRecords } from '../rewards/tables.ts'
import {
  accountRoutesWithPorts,
  mailedCode,
  PASSWORD,
  signUpForm,
  visitorFromAnywhere,
  wrongCode
} from './accounts.fixture.ts'
import { emailCodes, users } from './tables.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs })
})
afterAll(() => shop.close())

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
  // Each is counted before it is tried: of those at once fewer may pass, and never more.
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

test('a chat account that this browser never logged in to is not bound', async () => {
  const visitor = visitorFromAnywhere(shop)
  const code = await mailedCode(shop, visitor, 'chat@example.com', 'register')
  const reply = await visitor.post(SIGN_UP, signUpForm('Chatty', 'chat@example.com', code, { discord_id: '123456' }))
  expect(reply).toMatchObject({ code: 400, data: { errors: { discord_id: expect.any(String) } } })
  expect(await shop.ctx.db.$count(users, eq(users.discordId, '123456'))).toBe(0)
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
