import { eq } from '../../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { MINUTE } from '../../../infra/clock.ts'
import { auditLog } from '../../../infra/tables.ts'
import { mailJobs } from '../../mail/index.ts'
import { startTestShop } from '../../../testing/shop.ts'
import { useStarted } from '../../../testing/use-started.ts'
import { testPasskey } from './authenticator.fixture.ts'
import { accountRoutesWithPorts, visitorFromAnywhere } from '../accounts.fixture.ts'
import { logins } from '../tables.ts'
import {
  addApp,
  addPasskey,
  codeOf,
  factorsOf,
  firstStep,
  loginByPasskey,
  OWN,
  password,
  STEP,
  stepByPasskey,
  wrongCodeOf
} from './second-factor.fixture.ts'
import { secondFactorTickets } from './tables.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs }))
const LOGIN = '/api/auth/login'
const ME = '/api/users/u/user_info/'
const OVER = 'This login took too long. Please start again.'
const WRONG = 'The code is wrong or was already used'

const stranger = () => visitorFromAnywhere(shop)

test('an account with an app logs in with password and code; a wrong password says what it always says', async () => {
  const client = await shop.customer()
  const { secret } = await addApp(shop, client)
  const visitor = stranger()
  const { username } = client.user
  const wrong = await visitor.post(LOGIN, { username, password: 'Wrong#2026' })
  expect(wrong).toMatchObject({ code: 401, data: { reason: 'wrong_login' } })
  const asked = await visitor.post(LOGIN, { username, password })
  expect(asked).toMatchObject({
    status: 401,
    code: 401,
    msg: 'Please confirm your login with your second factor',
    data: { second_factor: ['totp', 'recovery'], ticket: expect.any(String) }
  })
  expect(asked.headers.getSetCookie()).toEqual([])
  expect((await visitor.get(ME)).code).toBe(401)
  const { ticket } = asked.data as { ticket: string }
  expect(await visitor.post(STEP, { ticket, method: 'totp', code: '12' })).toMatchObject({ code: 400 })
  const done = await visitor.post(STEP, { ticket, method: 'totp', code: codeOf(shop, secret) })
  expect(done).toMatchObject({ code: 2000, data: { id: client.user.id } })
  expect((await visitor.get(ME)).code).toBe(2000)
  expect(await visitor.post(STEP, { ticket, method: 'totp', code: codeOf(shop, secret, 1) })).toMatchObject({
    code: 401,
    msg: OVER
  })
})

test('a code counts once, in one of two log-ins at once, and not after one that came later', async () => {
  const client = await shop.customer()
  const { secret } = await addApp(shop, client)
  const { username } = client.user
  const code = codeOf(shop, secret)
  const visitors = [stranger(), stranger(), stranger()]
  const tickets = await Promise.all(visitors.map(visitor => firstStep(visitor, username)))
  const replies = await Promise.all(
    visitors.map((visitor, at) => visitor.post(STEP, { ticket: tickets[at], method: 'totp', code }))
  )
  expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([400, 400, 2000])
  expect(replies.filter(reply => reply.code === 400).map(reply => reply.msg)).toEqual([WRONG, WRONG])
  const again = stranger()
  const ticket = await firstStep(again, username)
  expect(await again.post(STEP, { ticket, method: 'totp', code: codeOf(shop, secret, -1) })).toMatchObject({
    msg: WRONG
  })
  // A clock that is one step ahead.
  expect(await again.post(STEP, { ticket, method: 'totp', code: codeOf(shop, secret, 1) })).toMatchObject({
    code: 2000
  })
})

test('clocks may differ by one step, and not by two', async () => {
  const client = await shop.customer()
  const { secret } = await addApp(shop, client)
  const visitor = stranger()
  const ticket = await firstStep(visitor, client.user.username)
  // To the start of a step after the app's first code, so that none begins meanwhile.
  shop.advance(90_000 - (shop.ctx.now().getTime() % 30_000))
  for (const steps of [-2, 2])
    expect((await visitor.post(STEP, { ticket, method: 'totp', code: codeOf(shop, secret, steps) })).msg).toBe(WRONG)
  expect((await visitor.post(STEP, { ticket, method: 'totp', code: codeOf(shop, secret, -1) })).code).toBe(2000)
})

test('one ticket opens one session, however often it is sent at once', async () => {
  const client = await shop.customer()
  const { codes } = await addApp(shop, client)
  const visitor = stranger()
  const ticket = await firstStep(visitor, client.user.username)
  const replies = await Promise.all(
    codes.slice(0, 4).map(code => visitor.post(STEP, { ticket, method: 'recovery', code }))
  )
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(1)
  expect((await factorsOf(client)).recovery_codes_left).toBe(9)
})

test('a ticket ends after five minutes, five tries, and with the password', async () => {
  const client = await shop.customer()
  const { secret, codes } = await addApp(shop, client)
  const { username } = client.user
  const visitor = stranger()
  const late = await firstStep(visitor, username)
  shop.advance(5 * MINUTE + 1000)
  expect(await visitor.post(STEP, { ticket: late, method: 'totp', code: codeOf(shop, secret) })).toMatchObject({
    code: 401,
    msg: OVER
  })
  const tried = await firstStep(visitor, username)
  const code = wrongCodeOf(shop, secret)
  for (let i = 0; i < 5; i += 1)
    expect((await visitor.post(STEP, { ticket: tried, method: 'totp', code })).msg).toBe(WRONG)
  expect((await visitor.post(STEP, { ticket: tried, method: 'recovery', code: codes[0] })).msg).toBe(OVER)
  const open = await firstStep(visitor, username)
  const changed = { old_password: password, new_password: 'Other#2026' }
  expect((await client.post('/api/users/change_password', changed)).code).toBe(2000)
  expect((await visitor.post(STEP, { ticket: open, method: 'recovery', code: codes[0] })).msg).toBe(OVER)
  // The factors stay, and so do the codes.
  const fresh = await firstStep(visitor, username, 'Other#2026')
  expect((await visitor.post(STEP, { ticket: fresh, method: 'recovery', code: codes[0] })).code).toBe(2000)
})

test.each(['', 'x', 'ä'.repeat(64)])('no ticket of this kind is known: %s', async ticket => {
  expect(await stranger().post(STEP, { ticket, method: 'recovery', code: 'abcde' })).toMatchObject({ msg: OVER })
})

test('a passkey that counts backwards, answers another page or an old challenge is refused', async () => {
  const client = await shop.customer()
  const { passkey } = await addPasskey(shop, client)
  const { username } = client.user
  const visitor = stranger()
  const refused = 'This passkey was not accepted'
  for (const wrong of [
    { origin: 'https://evil.example.com' },
    { rpId: 'example.com' },
    { challenge: Buffer.from('another one').toString('base64url') }
  ]) {
    const ticket = await firstStep(visitor, username)
    expect((await stepByPasskey(visitor, ticket, passkey, wrong)).msg).toBe(refused)
  }
  const ticket = await firstStep(visitor, username)
  expect(await stepByPasskey(visitor, ticket, passkey)).toMatchObject({ code: 2000 })
  // A copy of the device from before.
  passkey.counter = 2
  const copied = await firstStep(visitor, username)
  expect((await stepByPasskey(visitor, copied, passkey)).msg).toBe(refused)
})

test("a challenge is used up by the first answer, and another account's passkey answers none", async () => {
  const client = await shop.customer()
  const { passkey } = await addPasskey(shop, client)
  const other = await addPasskey(shop, await shop.customer())
  const visitor = stranger()
  const ticket = await firstStep(visitor, client.user.username)
  const request = await visitor.post<Parameters<typeof passkey.answer>[0]>(`${STEP}/options`, { ticket })
  expect(request.data.allowCredentials.map(({ id }) => id)).toEqual([passkey.id])
  const foreign = other.passkey.answer(request.data)
  expect((await visitor.post(STEP, { ticket, method: 'passkey', assertion: foreign })).code).toBe(400)
  const assertion = passkey.answer(request.data)
  expect((await visitor.post(STEP, { ticket, method: 'passkey', assertion })).code).toBe(400)
  expect((await stepByPasskey(visitor, ticket, passkey)).code).toBe(2000)
})

test('a passkey alone logs in if it has checked its owner', async () => {
  const client = await shop.customer()
  const { passkey } = await addPasskey(shop, client)
  const visitor = stranger()
  expect((await loginByPasskey(visitor, passkey, { checksOwner: false })).code).toBe(400)
  expect(await loginByPasskey(visitor, passkey)).toMatchObject({ code: 2000, data: { id: client.user.id } })
  expect((await visitor.get(ME)).code).toBe(2000)
  const methods = await shop.ctx.db.select().from(logins).where(eq(logins.userId, client.user.id))
  expect(methods.map(({ method }) => method)).toEqual(['passkey'])
  // A passkey that is on no account, and one of a banned user.
  expect((await loginByPasskey(visitor, testPasskey(shop.ctx.config.publicUrl))).msg).toBe(
    'This passkey was not accepted'
  )
  const boss = await shop.admin()
  await boss.post(`/api/users/u/${client.user.id}/baned_user/`)
  expect((await loginByPasskey(visitor, passkey)).msg).toBe('This account has been banned')
})

test("a passkey's log-in cannot be sent twice, and one client gets a limited number of challenges", async () => {
  const client = await shop.customer()
  const { passkey } = await addPasskey(shop, client)
  passkey.counter = null
  const visitor = stranger()
  type Offer = { ticket: string; passkey: Parameters<typeof passkey.answer>[0] }
  const offer = await visitor.post<Offer>('/api/auth/passkey/options')
  const body = { ticket: offer.data.ticket, assertion: passkey.answer(offer.data.passkey) }
  const replies = await Promise.all([1, 2, 3].map(() => visitor.post('/api/auth/passkey', body)))
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(1)
  const offers = []
  for (let i = 0; i < 60; i += 1) offers.push((await visitor.post('/api/auth/passkey/options')).code)
  expect(offers.at(-1)).toBe(429)
  expect((await stranger().post('/api/auth/passkey/options')).code).toBe(2000)
})

test('a recovery code works once, as it is typed, and its owner is told', async () => {
  const client = await shop.customer()
  const { codes } = await addApp(shop, client)
  expect(codes).toHaveLength(10)
  expect(new Set(codes).size).toBe(10)
  const visitor = stranger()
  const { username, email } = client.user
  const code = ` ${codes[3]?.toUpperCase().replace('-', ' ')} `
  const ticket = await firstStep(visitor, username)
  expect((await visitor.post(STEP, { ticket, method: 'recovery', code })).code).toBe(2000)
  const again = await firstStep(visitor, username)
  expect((await visitor.post(STEP, { ticket: again, method: 'recovery', code })).msg).toBe(WRONG)
  const other = await addApp(shop, await shop.customer())
  expect((await visitor.post(STEP, { ticket: again, method: 'recovery', code: other.codes[0] })).msg).toBe(WRONG)
  await shop.drain()
  const subjects = shop.outbox.mails.filter(mail => mail.to === email).map(mail => mail.subject)
  expect(subjects.filter(subject => subject.includes('recovery code'))).toEqual([
    'A recovery code of your account was used'
  ])
  const entries = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.targetId, String(client.user.id)))
  expect(entries.map(({ action }) => action)).toContain('user.use_recovery_code')
})

test("a thief of the password is stopped after 20 codes, and the owner's browser is not", async () => {
  const client = await shop.customer()
  const { secret } = await addApp(shop, client)
  const { username, email } = client.user
  const owner = stranger()
  const first = await firstStep(owner, username)
  expect((await owner.post(STEP, { ticket: first, method: 'totp', code: codeOf(shop, secret) })).code).toBe(2000)
  const code = wrongCodeOf(shop, secret)
  for (let round = 0; round < 4; round += 1) {
    const thief = stranger()
    const ticket = await firstStep(thief, username)
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => thief.post(STEP, { ticket, method: 'totp', code }))
    )
    expect(replies.map(reply => reply.msg)).toEqual(Array.from({ length: 5 }, () => WRONG))
  }
  const thief = stranger()
  const ticket = await firstStep(thief, username)
  shop.advance(30_000)
  expect(await thief.post(STEP, { ticket, method: 'totp', code: codeOf(shop, secret) })).toMatchObject({
    code: 429,
    msg: 'Too many wrong codes. Please wait 15 minutes and try again.'
  })
  const again = await firstStep(owner, username)
  expect((await owner.post(STEP, { ticket: again, method: 'totp', code: codeOf(shop, secret) })).code).toBe(2000)
  await shop.drain()
  const warned = shop.outbox.mails.filter(mail => mail.to === email && mail.subject === 'Someone knows your password')
  expect(warned).toHaveLength(1)
  shop.advance(15 * MINUTE + 1000)
  const later = await firstStep(thief, username)
  expect((await thief.post(STEP, { ticket: later, method: 'totp', code: codeOf(shop, secret) })).code).toBe(2000)
})

test('log-ins that are not finished leave no rows behind', async () => {
  const client = await shop.customer()
  await addApp(shop, client)
  for (let i = 0; i < 3; i += 1) {
    await firstStep(stranger(), client.user.username)
    shop.advance(6 * MINUTE)
  }
  await firstStep(stranger(), client.user.username)
  const left = await shop.ctx.db
    .select()
    .from(secondFactorTickets)
    .where(eq(secondFactorTickets.userId, client.user.id))
  expect(left).toHaveLength(1)
})

test('an API key works as before', async () => {
  const client = await shop.customer()
  await addApp(shop, client)
  const made = await client.post<{ key: string }>('/api/users/api_keys/', {
    name: 'script',
    scopes: ['read'],
    password
  })
  const program = shop.visitor()
  const headers = { authorization: `Bearer ${made.data.key}` }
  expect(await program.get(ME, headers)).toMatchObject({ code: 2000, data: { id: client.user.id } })
  expect((await program.get(OWN, headers)).code).toBe(403)
})
