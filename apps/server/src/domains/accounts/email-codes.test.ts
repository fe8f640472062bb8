import { createHmac } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
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
import { emailCodes } from './tables.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs })
})
afterAll(() => shop.close())

const ASK = '/api/users/email_validate'
const VERIFY = '/api/users/forgot_password_verify'
const FORGOT = '/api/users/forgot_password'
const TOO_SOON = 'A code was sent a moment ago. Please wait a minute before asking for another.'

test('a stranger who asks for codes to an address keeps nobody from receiving one', async () => {
  const email = 'slow@example.com'
  const strangers = Array.from({ length: 12 }, () => visitorFromAnywhere(shop))
  for (const stranger of strangers) expect((await stranger.post(ASK, { email, type: 'register' })).code).toBe(2000)
  expect((await strangers[0]?.post(ASK, { email: 'SLOW@example.com', type: 'register' }))?.msg).toBe(TOO_SOON)
  const owner = visitorFromAnywhere(shop)
  const asked = await owner.post<{ email_code_id: string }>(ASK, { email, type: 'register' })
  expect(asked.code).toBe(2000)
  const mails = await shop.outbox.waitFor(email, 13)
  // Each has a code of its own, and the owner's works among them.
  const codes = mails.map(mail => /\b\d{6}\b/.exec(mail.text)?.[0] ?? '')
  const { email_code_id } = asked.data
  const [row] = await shop.ctx.db.select().from(emailCodes).where(eq(emailCodes.id, email_code_id))
  const hashOf = (code: string) =>
    createHmac('sha256', shop.ctx.config.appSecret).update(`email code ${email_code_id} ${code}`).digest('hex')
  expect(codes.map(hashOf)).toContain(row?.codeHash.toString('hex'))
})

test('a code that was asked for while the clock was ahead keeps nobody from the next one', async () => {
  const client = visitorFromAnywhere(shop)
  const ask = async () => (await client.post(ASK, { email: 'ahead@example.com', type: 'register' })).msg
  shop.advance(5 * HOUR)
  expect(await ask()).not.toBe(TOO_SOON)
  expect(await ask()).toBe(TOO_SOON)
  shop.advance(-5 * HOUR)
  expect(await ask()).not.toBe(TOO_SOON)
  expect(await ask()).toBe(TOO_SOON)
})

test('one client has ten codes a day for an address; a flood from everywhere ends at a hundred', async () => {
  const email = 'flooded@example.com'
  const client = visitorFromAnywhere(shop)
  for (let i = 0; i < 10; i += 1) {
    expect((await client.post(ASK, { email, type: 'forgot' })).code).toBe(2000)
    shop.advance(A_MINUTE_LATER)
  }
  const LIMIT = 'Too many codes were asked for. Please use the last one, or try again tomorrow.'
  expect(await client.post(ASK, { email, type: 'forgot' })).toMatchObject({ code: 429, msg: LIMIT })
  expect((await visitorFromAnywhere(shop).post(ASK, { email, type: 'forgot' })).code).toBe(2000)
  await fill(email, 100)
  expect(await visitorFromAnywhere(shop).post(ASK, { email, type: 'forgot' })).toMatchObject({ code: 429, msg: LIMIT })
  // What is a day old still counts.
  shop.advance(DAY + 1)
  expect((await client.post(ASK, { email, type: 'forgot' })).code).toBe(2000)
})

test('a browser that has logged in to the account gets a code in spite of a flood', async () => {
  const { user } = await shop.customer()
  const { email } = user
  const own = visitorFromAnywhere(shop)
  expect((await own.post('/api/auth/login', { username: email, password: TEST_PASSWORD })).code).toBe(2000)
  await fill(email, 100)
  expect((await visitorFromAnywhere(shop).post(ASK, { email, type: 'forgot' })).code).toBe(429)
  expect((await own.post(ASK, { email, type: 'forgot' })).code).toBe(2000)
})

/** Codes that were asked for from as many networks. */
const fill = (email: string, count: number) =>
  shop.ctx.db.execute(sql`insert into email_codes (email, purpose, code_hash, client_ip, created_at, expires_at)
    select ${email}, 'forgot', 'x', ('198.18.0.' || n)::inet, ${shop.ctx.now().toISOString()}::timestamptz,
      ${shop.ctx.now().toISOString()}::timestamptz from generate_series(1, ${count}) n`)

test('one mail a minute from a client, whatever the address, even when asked at once', async () => {
  const client = shop.visitor({ ip: '2001:db8:1:2::1' })
  const neighbour = shop.visitor({ ip: '2001:db8:1:2:ffff::9' })
  const replies = await Promise.all(
    [client, neighbour, client, neighbour].map((asker, i) =>
      asker.post(ASK, { email: `burst${i}@example.com`, type: 'register' })
    )
  )
  expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([429, 429, 429, 2000])
  for (const { code, msg, data } of replies.filter(reply => reply.code === 429))
    expect({ code, data }).toMatchObject({ code: 429, data: { retry_after: 60, errors: { email_code: msg } } })
  const elsewhere = shop.visitor({ ip: '2001:db8:1:3::1' })
  expect((await elsewhere.post(ASK, { email: 'burst9@example.com', type: 'register' })).code).toBe(2000)
})

test('a sign-up code is answered alike whether the address is registered; its owner is told', async () => {
  const { user } = await shop.customer()
  const replies = []
  for (const email of [user.email.toUpperCase(), 'free@example.com']) {
    const reply = await visitorFromAnywhere(shop).post<object>(ASK, { email, type: 'register' })
    replies.push({ status: reply.status, code: reply.code, msg: reply.msg, keys: Object.keys(reply.data) })
  }
  expect(new Set(replies.map(reply => JSON.stringify(reply))).size).toBe(1)
  const [mail] = await shop.outbox.waitFor(user.email)
  expect(mail?.subject).toBe('You have an account already')
  expect(mail?.text).not.toMatch(/\b\d{6}\b/)
})

test('a request for a sign-up code does the same work whether the address is registered', async () => {
  // Nothing works on its jobs: all statements are those of the requests.
  const quiet = await startTestShop({ routes: accountRoutesWithPorts })
  const sent = vi.spyOn(Client.prototype, 'query')
  try {
    const { user } = await quiet.customer()
    const { rows } = await quiet.ctx.db.execute<{ name: string }>(sql`select current_database() as name`)
    const statements = []
    for (const email of ['first@example.com', user.email, 'free@example.com', user.email.toUpperCase()]) {
      sent.mockClear()
      expect((await visitorFromAnywhere(quiet).post(ASK, { email, type: 'register' })).code).toBe(2000)
      // The other shop of this file works on its jobs meanwhile.
      const own = sent.mock.calls.filter((_, at) => databaseOf(sent.mock.contexts[at]) === rows[0]?.name)
      // The change feed tells of what happened before at a moment of its own.
      const texts = own.map(([query]) => textOf(query))
      statements.push(texts.filter(text => !text.includes('pg_notify')))
    }
    // The first request of all may have more to prepare.
    const [, ...later] = statements
    expect(later[0]?.filter(text => text.startsWith('insert into "email_codes"'))).toHaveLength(1)
    expect(later[1]).toEqual(later[0])
    expect(later[2]).toEqual(later[0])
  } finally {
    sent.mockRestore()
    await quiet.close()
  }
})

/** Of a client of pg, whose types do not name it. */
const databaseOf = (client: unknown): string | undefined => (client as { database?: string } | undefined)?.database

/** Of what `query` of pg is called with. */
const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : ((query as { text?: string }).text ?? '')

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
    expect(await visitor.post(ASK, { email, type: 'forgot' })).toMatchObject({ code: 429 })
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
    msg: 'The verification code is not correct or has expired',
    data: { errors: { email_code: 'The verification code is not correct or has expired' } }
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

test.each(['register', 'forgot'] as const)('a code of a %s page is mailed in the language of that page', async type => {
  const { user } = await shop.customer()
  const email = type === 'forgot' ? user.email : 'chinese@example.com'
  const asked = await visitorFromAnywhere(shop).post(ASK, { email, type, language: 'zh-CN' })
  expect(asked.code).toBe(2000)
  const [mail] = await shop.outbox.waitFor(email)
  expect(mail?.subject).toBe(type === 'forgot' ? '您的密码重置验证码' : '您的注册验证码')
})
