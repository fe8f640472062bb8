import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { writeSettings } from '../settings/index.ts'
import {
  accountRoutesWithPorts,
  A_MINUTE_LATER,
  mailedCode,
  PASSWORD,
  signUpForm,
  visitorFromAnywhere,
  wrongCode
} from './accounts.fixture.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs })
})
afterAll(() => shop.close())

const ASK = '/api/users/email_validate'
const VERIFY = '/api/users/forgot_password_verify'
const FORGOT = '/api/users/forgot_password'
const TOO_SOON = 'A code was sent a moment ago. Please wait a minute before asking for another.'

test('one mail a minute to an address, whoever asks, however its letters are written', async () => {
  await mailedCode(shop, visitorFromAnywhere(shop), 'slow@example.com', 'register')
  const other = visitorFromAnywhere(shop)
  const soon = await other.post(ASK, { email: 'SLOW@example.com', type: 'register' })
  expect(soon).toMatchObject({ status: 429, code: 429, msg: TOO_SOON })
  shop.advance(A_MINUTE_LATER)
  expect((await other.post(ASK, { email: 'slow@example.com', type: 'register' })).code).toBe(2000)
})

test('one mail a minute from a client, whatever the address, even when asked at once', async () => {
  const client = shop.visitor({ ip: '2001:db8:1:2::1' })
  const neighbour = shop.visitor({ ip: '2001:db8:1:2:ffff::9' })
  const replies = await Promise.all(
    [client, neighbour, client, neighbour].map((asker, i) =>
      asker.post(ASK, { email: `burst${i}@example.com`, type: 'register' })
    )
  )
  expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([429, 429, 429, 2000])
  const elsewhere = shop.visitor({ ip: '2001:db8:1:3::1' })
  expect((await elsewhere.post(ASK, { email: 'burst9@example.com', type: 'register' })).code).toBe(2000)
})

test('a registered address is refused for a sign-up', async () => {
  const { user } = await shop.customer()
  const reply = await visitorFromAnywhere(shop).post(ASK, { email: user.email.toUpperCase(), type: 'register' })
  expect(reply).toMatchObject({ status: 409, msg: 'This email is already registered' })
})

test('without an address the form says so', async () => {
  const reply = await shop.visitor().post(ASK, { email: '', type: 'forgot' })
  expect(reply).toMatchObject({ code: 400, msg: 'Please enter your email address!' })
})

test('a code expires after the seconds of the settings', async () => {
  await writeSettings(shop.ctx, { email_code_expire: 120 })
  const visitor = visitorFromAnywhere(shop)
  const code = await mailedCode(shop, visitor, 'late@example.com', 'register')
  shop.advance(2 * MINUTE + 1000)
  const reply = await visitor.post('/api/users/u/', signUpForm('Late1', 'late@example.com', code))
  expect(reply).toMatchObject({ code: 400, msg: 'The verification code is not correct or has expired' })
})

test('the job table never shows a code', async () => {
  const quiet = await startTestShop({ routes: accountRoutesWithPorts })
  try {
    await quiet.visitor().post(ASK, { email: 'sealed@example.com', type: 'register' })
    const { rows } = await quiet.ctx.db.execute<{ data: { data: { sealed_code: string } } }>(
      sql`select data from pgboss.job where name = 'send-mail'`
    )
    const sealed = rows[0]?.data.data.sealed_code ?? ''
    const code = quiet.ctx.secrets.open(Buffer.from(sealed, 'base64'))
    expect(code).toMatch(/^\d{6}$/)
    expect(JSON.stringify(rows)).not.toContain(`"${code}"`)
    const { rows: stored } = await quiet.ctx.db.execute(sql`select * from email_codes`)
    expect(JSON.stringify(stored)).not.toContain(`"${code}"`)
  } finally {
    await quiet.close()
  }
})

test('for a forgotten password it answers alike whether the account exists', async () => {
  const banned = await shop.customer()
  await shop.ctx.db.execute(sql`update users set is_active = false where id = ${banned.user.id}`)
  const known = await shop.customer()
  const mailsBefore = shop.outbox.mails.length
  const replies = []
  for (const email of ['nobody@example.com', banned.user.email, known.user.email]) {
    const visitor = visitorFromAnywhere(shop)
    const reply = await visitor.post<{ email_code_id: string }>(ASK, { email, type: 'forgot', check_user: 1 })
    const verify = await visitor.post(VERIFY, { email, email_code: 'abcdef', email_code_id: reply.data.email_code_id })
    replies.push({ code: reply.code, msg: reply.msg, keys: Object.keys(reply.data), verify: verify.msg })
    expect(await visitorFromAnywhere(shop).post(ASK, { email, type: 'forgot' })).toMatchObject({ code: 429 })
  }
  expect(new Set(replies.map(reply => JSON.stringify(reply))).size).toBe(1)
  await shop.outbox.waitFor(known.user.email)
  expect(shop.outbox.mails.slice(mailsBefore).map(mail => mail.to)).toEqual([known.user.email])
})

test('a forgotten password is set again by the code; every session ends; the proof works once', async () => {
  const user = await shop.customer()
  const visitor = visitorFromAnywhere(shop)
  const { email } = user.user
  const code = await mailedCode(shop, visitor, email, 'forgot')
  expect(await visitor.post(VERIFY, { email, ...wrongCode(code) })).toMatchObject({
    code: 400,
    msg: 'The verification code is not correct or has expired'
  })
  const { data: proof } = await visitor.post<{ verify_id: string }>(VERIFY, { email, ...code })
  expect((await visitor.post(VERIFY, { email, ...code })).code).toBe(400)
  expect((await user.get('/api/auth/login')).code).toBe(2000)

  const weak = await visitor.post(FORGOT, { email, password: 'short', ...proof })
  expect(weak.msg).toBe(
    'Password must contain at least one lowercase letter, one uppercase letter, one number, one special character and length should be 8 to 20'
  )
  expect((await visitor.post(FORGOT, { email, password: '', ...proof })).msg).toBe('Please enter your password!')
  const elsewhere = await visitor.post(FORGOT, { email: 'nobody@example.com', password: PASSWORD, ...proof })
  expect(elsewhere).toMatchObject({ code: 400, msg: 'The verification has expired. Please request a new code.' })

  expect((await visitor.post(FORGOT, { email, password: PASSWORD, ...proof })).code).toBe(2000)
  expect((await user.get('/api/auth/login')).code).toBe(401)
  expect((await visitor.post('/api/auth/login', { username: email, password: PASSWORD })).code).toBe(2000)
  expect((await visitor.post(FORGOT, { email, password: PASSWORD, ...proof })).code).toBe(400)
})

test('a code for signing up is none for a forgotten password', async () => {
  const visitor = visitorFromAnywhere(shop)
  const email = 'cross@example.com'
  const code = await mailedCode(shop, visitor, email, 'register')
  expect((await visitor.post(VERIFY, { email, ...code })).code).toBe(400)
})
