import { createHmac, randomUUID } from 'node:crypto'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { startTestShop, TEST_PASSWORD, type TestUser } from '../../testing/shop.ts'
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
import { passwordsAreFull } from './passwords.ts'
import { emailCodes } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import type { TestClient } from '../../testing/client.ts'
import { rewardsQueues } from '../rewards/queues.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs, queues: rewardsQueues }))

const ASK = '/api/users/email_validate'
const VERIFY = '/api/users/forgot_password_verify'
const FORGOT = '/api/users/forgot_password'
const TOO_SOON = 'We sent a code a moment ago. Please wait a minute before you request another.'

test('a stranger who requests codes for an address does not block its owner’s', async () => {
  const email = 'slow@example.com'
  const strangers = Array.from({ length: 12 }, () => visitorFromAnywhere(shop))
  for (const stranger of strangers) expect((await stranger.post(ASK, { email, type: 'register' })).code).toBe(2000)
  expect((await strangers[0]?.post(ASK, { email: 'SLOW@example.com', type: 'register' }))?.msg).toBe(TOO_SOON)
  const owner = visitorFromAnywhere(shop)
  const asked = await owner.post<{ email_code_id: string }>(ASK, { email, type: 'register' })
  expect(asked.code).toBe(2000)
  const mails = await shop.outbox.waitFor(email, 13)
  // Each has its own code, and the owner's is one of them.
  const codes = mails.map(mail => /\b\d{6}\b/.exec(mail.text)?.[0] ?? '')
  const { email_code_id } = asked.data
  const [row] = await shop.ctx.db.select().from(emailCodes).where(eq(emailCodes.id, email_code_id))
  const hashOf = (code: string) =>
    createHmac('sha256', shop.ctx.config.appSecret).update(`email code ${email_code_id} ${code}`).digest('hex')
  expect(codes.map(hashOf)).toContain(row?.codeHash.toString('hex'))
})

test('a code requested while the clock was ahead does not block the next one', async () => {
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
  const LIMIT = 'Too many codes were requested for this address. Please use the newest email, or try again tomorrow.'
  expect(await client.post(ASK, { email, type: 'forgot' })).toMatchObject({ code: 429, msg: LIMIT })
  expect((await visitorFromAnywhere(shop).post(ASK, { email, type: 'forgot' })).code).toBe(2000)
  await fill(email, 100)
  expect(await visitorFromAnywhere(shop).post(ASK, { email, type: 'forgot' })).toMatchObject({ code: 429, msg: LIMIT })
  // A request from a day ago still counts.
  shop.advance(DAY + 1)
  expect((await client.post(ASK, { email, type: 'forgot' })).code).toBe(2000)
})

test.each([
  ['an IPv4 /24', (n: number) => `192.0.2.${n}`, 30],
  ['an IPv6 /48', (n: number) => `2001:db8:3:${n.toString(16)}00::1`, 30]
])(
  '%s with a client for each request has 30 codes a day for an address, and 16 mails a minute',
  async (_network, addressOf, most) => {
    const email = `wide${most}@example.com`
    const ask = (n: number, to: string) => shop.visitor({ ip: addressOf(n) }).post(ASK, { email: to, type: 'forgot' })
    const minute = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(n + 1, `wide-${n}-${email}`)))
    expect(minute.filter(({ code }) => code === 2000)).toHaveLength(16)
    let sent = 0
    for (let n = 1; n <= most + 5; n++) {
      shop.advance(A_MINUTE_LATER)
      if ((await ask(n, email)).code === 2000) sent++
    }
    expect(sent).toBe(most)
    expect((await visitorFromAnywhere(shop).post(ASK, { email, type: 'forgot' })).code).toBe(2000)
  }
)

test('a flood of sign-up codes from everywhere does not keep the owner from a reset', async () => {
  const { user } = await shop.customer()
  await fill(user.email, 100, 'register')
  const stranger = visitorFromAnywhere(shop)
  expect((await stranger.post(ASK, { email: user.email, type: 'register' })).code).toBe(429)
  expect((await stranger.post(ASK, { email: user.email, type: 'forgot' })).code).toBe(2000)
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

test.each([
  ['everywhere', 99, undefined],
  ["the owner's own address", 9, '192.0.2.201']
])(
  'where strangers of %s spent the codes, the owner gets in by the link of the last mail',
  async (_from, before, ip) => {
    const { user } = await shop.customer()
    const { email } = user
    await fill(email, before, 'forgot', ip)
    shop.advance(A_MINUTE_LATER)
    const owner = ip ? shop.visitor({ ip }) : visitorFromAnywhere(shop)
    const stranger = ip ? shop.visitor({ ip }) : visitorFromAnywhere(shop)
    const { data } = await stranger.post<{ email_code_id: string }>(ASK, { email, type: 'forgot' })
    shop.advance(A_MINUTE_LATER)
    expect((await owner.post(ASK, { email, type: 'forgot' })).code).toBe(429)
    // Neither a code nor wrong tries of the stranger end the link, which works for a day.
    for (let n = 0; n < 6; n++)
      expect(
        (await stranger.post(VERIFY, { email, email_code_id: data.email_code_id, email_code: `00000${n}` })).code
      ).toBe(400)
    const link = /\/forgot\?step=reset#(\S+)/.exec((await shop.outbox.waitFor(email))[0]?.text ?? '')
    const proof = Object.fromEntries(new URLSearchParams(link?.[1]))
    expect(proof).toMatchObject({ email })
    const stored = await shop.ctx.db.select().from(emailCodes).where(eq(emailCodes.id, data.email_code_id))
    expect(stored[0]?.verifyId).not.toBe(proof['verify_id'])
    shop.advance(DAY - HOUR)
    expect((await owner.post(FORGOT, { ...proof, password: 'Xk9$mQ2v-Reef' })).code).toBe(2000)
    expect((await owner.post(FORGOT, { ...proof, password: 'Xk9$mQ2v-Reef' })).code).toBe(400)
    expect((await owner.post('/api/auth/login', { username: email, password: 'Xk9$mQ2v-Reef' })).code).toBe(2000)
  }
)

/** Codes requested from as many networks. */
const fill = (email: string, count: number, purpose: 'forgot' | 'register' = 'forgot', ip: string | null = null) =>
  shop.ctx.db.execute(sql`insert into email_codes (email, purpose, code_hash, client_ip, created_at, expires_at)
    select ${email}, ${purpose}, 'x', coalesce(${ip}, '198.18.0.' || n)::inet, ${shop.ctx.now().toISOString()}::timestamptz,
      ${shop.ctx.now().toISOString()}::timestamptz from generate_series(1, ${count}) n`)

test('one mail a minute from a client, for all addresses, even if requested concurrently', async () => {
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
  expect(mail?.subject).toBe('You already have an account')
  expect(mail?.text).not.toMatch(/\b\d{6}\b/)
})

test('a request for a sign-up code does the same work whether the address is registered', async () => {
  const sent = vi.spyOn(Client.prototype, 'query')
  try {
    const { user } = await shop.customer()
    const statements = []
    for (const email of ['first@example.com', user.email, 'free@example.com', user.email.toUpperCase()]) {
      sent.mockClear()
      expect((await visitorFromAnywhere(shop).post(ASK, { email, type: 'register' })).code).toBe(2000)
      // The change feed reports earlier changes at its own time.
      const texts = sent.mock.calls.map(([query]) => textOf(query))
      statements.push(texts.filter(text => !text.includes('pg_notify')))
    }
    // The first request may have more to prepare.
    const [, ...later] = statements
    expect(later[0]?.filter(text => text.startsWith('insert into "email_codes"'))).toHaveLength(1)
    expect(later[1]).toEqual(later[0])
    expect(later[2]).toEqual(later[0])
  } finally {
    sent.mockRestore()
  }
})

/** The text of a call of pg's `query`. */
const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : ((query as { text?: string }).text ?? '')

test('a code expires after the seconds of the settings', async () => {
  await writeSettings(shop.ctx, { email_code_expire: 120 })
  const visitor = visitorFromAnywhere(shop)
  const code = await mailedCode(shop, visitor, 'late@example.com', 'register')
  shop.advance(2 * MINUTE + 1000)
  const reply = await visitor.post('/api/users/u/', signUpForm('Late1', 'late@example.com', code))
  expect(reply).toMatchObject({ code: 400, msg: 'The verification code is not correct or has expired' })
})

test('the job table never shows a code', async () => {
  const email = 'sealed@example.com'
  await visitorFromAnywhere(shop).post(ASK, { email, type: 'register' })
  const { rows } = await shop.ctx.db.execute<{ data: { data: { sealed_code: string } } }>(
    sql`select data from pgboss.job where name = 'send-mail' and data ->> 'to' = ${email}`
  )
  const code = shop.ctx.secrets.open(Buffer.from(rows[0]?.data.data.sealed_code ?? '', 'base64'))
  expect(code).toMatch(/^\d{6}$/)
  const stored = await shop.ctx.db.select().from(emailCodes).where(eq(emailCodes.email, email))
  expect(JSON.stringify([rows, stored])).not.toContain(`"${code}"`)
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
  const asked = ['nobody@example.com', banned.user.email, known.user.email]
  const to = shop.outbox.mails.slice(mailsBefore).map(mail => mail.to)
  expect(to.filter(address => asked.includes(address))).toEqual([known.user.email])
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

  for (const password of ['short', ''])
    expect((await visitor.post(FORGOT, { email, password, ...proof })).code).toBe(400)
  const elsewhere = await visitor.post(FORGOT, { email: 'nobody@example.com', password: PASSWORD, ...proof })
  expect(elsewhere).toMatchObject({ code: 400, msg: 'The verification has expired. Please request a new code.' })

  expect((await visitor.post(FORGOT, { email, password: PASSWORD, ...proof })).code).toBe(2000)
  expect((await user.get('/api/auth/login')).code).toBe(401)
  expect((await visitor.post('/api/auth/login', { username: email, password: PASSWORD })).code).toBe(2000)
  expect((await visitor.post(FORGOT, { email, password: PASSWORD, ...proof })).code).toBe(400)
})

test('a new password is hashed only for a proof: a flood without one makes no other caller wait', async () => {
  let isFull = false
  const look = setInterval(() => (isFull ||= passwordsAreFull({ key: 'stranger', first: false })))
  onTestFinished(() => clearInterval(look))
  const form = { email: 'nobody@example.com', password: PASSWORD, verify_id: randomUUID() }
  const replies = await Promise.all(Array.from({ length: 110 }, () => shop.visitor().post(FORGOT, form)))
  expect(new Set(replies.map(({ msg }) => msg))).toEqual(new Set([EXPIRED.msg]))
  expect(isFull).toBe(false)
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

const LOGIN = '/api/auth/login'
const CHANGE = '/api/users/change_password'
const EXPIRED = { code: 400, msg: 'The verification has expired. Please request a new code.' }
const NEW = 'Owner#2026'

async function prove(client: TestClient, email: string): Promise<{ verify_id: string }> {
  const code = await mailedCode(shop, client, email, 'forgot')
  const proof = await client.post<{ verify_id: string }>(VERIFY, { email, ...code })
  if (proof.code !== 2000) throw new Error(`no proof: ${proof.msg}`)
  return proof.data
}

type Owner = TestClient & { user: TestUser }
type Boss = TestClient

const endings: [string, (owner: Owner, boss: Boss) => Promise<{ code: number }>][] = [
  ['its owner changed the password', owner => owner.post(CHANGE, { old_password: TEST_PASSWORD, new_password: NEW })],
  [
    'its owner reset the password by mail',
    async ({ user: { email } }) => {
      const home = visitorFromAnywhere(shop)
      return home.post(FORGOT, { email, password: NEW, ...(await prove(home, email)) })
    }
  ],
  [
    'an administrator set a password',
    ({ user }, boss) => boss.post(`/api/users/u/${user.id}/change_password/`, { password: NEW })
  ],
  ['an administrator promoted it', ({ user }, boss) => boss.put(`/api/users/u/${user.id}/`, { is_superuser: true })],
  [
    'a ban, and its end',
    async ({ user }, boss) => {
      const ban = await boss.post(`/api/users/u/${user.id}/baned_user/`)
      return ban.code === 2000 ? boss.post(`/api/users/u/${user.id}/unbaned_user/`) : ban
    }
  ]
]

test.each(endings)(
  'neither a kept proof nor a mailed code resets the password of an account after %s',
  async (_, end) => {
    const owner = await shop.customer()
    const { email, username } = owner.user
    const [proven, mailed] = [visitorFromAnywhere(shop), visitorFromAnywhere(shop)]
    const proof = await prove(proven, email)
    const code = await mailedCode(shop, mailed, email, 'forgot')
    expect((await end(owner, await shop.admin())).code).toBe(2000)
    expect(await proven.post(FORGOT, { email, password: 'Thief#2026', ...proof })).toMatchObject(EXPIRED)
    expect((await mailed.post(VERIFY, { email, ...code })).code).toBe(400)
    expect((await proven.post(LOGIN, { username, password: 'Thief#2026' })).code).toBe(401)
    // The reader of the owner's mails can still reset the password.
    const home = visitorFromAnywhere(shop)
    expect((await home.post(FORGOT, { email, password: 'Third#2026', ...(await prove(home, email)) })).code).toBe(2000)
    expect((await home.post(LOGIN, { username, password: 'Third#2026' })).code).toBe(2000)
  }
)

test('of two proofs that are used at once, one sets the password', async () => {
  const { email, username } = (await shop.customer()).user
  const clients = [visitorFromAnywhere(shop), visitorFromAnywhere(shop), visitorFromAnywhere(shop)]
  const proofs: object[] = []
  for (const client of clients) proofs.push(await prove(client, email))
  const password = (n: number) => `Harbour#${n}xq`
  const replies = await Promise.all(
    clients.map((client, n) => client.post(FORGOT, { email, password: password(n), ...proofs[n] }))
  )
  expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([400, 400, 2000])
  const winner = replies.findIndex(reply => reply.code === 2000)
  expect((await visitorFromAnywhere(shop).post(LOGIN, { username, password: password(winner) })).code).toBe(2000)
})

test('a proof for an address does not reset the password of its next owner', async () => {
  const before = await shop.customer()
  const { email } = before.user
  const boss = await shop.admin()
  const thief = visitorFromAnywhere(shop)
  const proof = await prove(thief, email)
  expect((await boss.put(`/api/users/u/${before.user.id}/`, { email: `moved.${email}` })).code).toBe(2000)
  await shop.customer({ email, username: 'nextone' })
  expect(await thief.post(FORGOT, { email, password: 'Thief#2026', ...proof })).toMatchObject(EXPIRED)
})

test('a stolen password keeps its owner from a reset by mail for a few codes only', async () => {
  const thief = await shop.customer()
  const { email, username } = thief.user
  const passwords = [TEST_PASSWORD, 'Thief#2026a', 'Thief#2026b', 'Thief#2026c', 'Thief#2026d']
  const change = (n: number) => thief.post(CHANGE, { old_password: passwords[n], new_password: passwords[n + 1] })
  for (const n of [0, 1, 2]) expect((await change(n)).code).toBe(2000)
  await shop.outbox.waitFor(email, 3)
  const owner = visitorFromAnywhere(shop)
  const proof = await prove(owner, email)
  expect(await change(3)).toMatchObject({ code: 429 })
  expect((await owner.post(FORGOT, { email, password: NEW, ...proof })).code).toBe(2000)
  expect((await owner.post(LOGIN, { username, password: NEW })).code).toBe(2000)
  // The thief's changes no longer count.
  expect((await owner.post(CHANGE, { old_password: NEW, new_password: 'Fresh#2026' })).code).toBe(2000)
})
