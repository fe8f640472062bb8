import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test, vi } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { hashToken } from '../../infra/secrets.ts'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import type { TestClient } from '../../testing/client.ts'
import { accountRoutesWithPorts, failed, solvedCaptcha, visitorFromAnywhere } from './accounts.fixture.ts'
import { guessesKey } from './confirm-caller.ts'
import { isOurOrigin } from './authenticate.ts'
import { SESSION_COOKIE } from './index.ts'
import { captchas, sessions, users } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts }))

const LOGIN = '/api/auth/login'
const WRONG = 'The username, email or password is not correct'
type Refused = { require_captcha?: boolean } | null

test('logs in by username or email, in any case, and says when and from where', async () => {
  const { user } = await shop.customer()
  const visitor = shop.visitor({ ip: '8.8.8.8' })
  for (const username of [user.username.toUpperCase(), user.email.toUpperCase()]) {
    const reply = await visitor.post(LOGIN, { username, password: TEST_PASSWORD })
    expect(reply).toMatchObject({
      status: 200,
      code: 2000,
      data: { id: user.id, last_login_ip: '8.8.8.8', last_location: 'US', impersonated_by: null }
    })
  }
  expect(await visitor.get('/api/users/u/user_info/')).toMatchObject({ code: 2000, data: { id: user.id } })
  expect(await shop.visitor().get(LOGIN)).toMatchObject({ status: 401, code: 401, msg: 'Please log in' })
})

test('the cookies are inaccessible to scripts, and Secure if the shop has an https address', async () => {
  const { user } = await shop.customer()
  const reply = await shop.visitor().post(LOGIN, { username: user.username, password: TEST_PASSWORD })
  const cookies = reply.headers.getSetCookie()
  // The session, and the proof of the log-in.
  expect(cookies).toHaveLength(2)
  for (const line of cookies) {
    expect(line).toMatch(/HttpOnly/)
    expect(line).toMatch(/SameSite=Lax/)
    expect(line).not.toMatch(/Secure/)
  }
  const cookie = cookies.find(line => line.startsWith(SESSION_COOKIE))
  const token = cookie?.split(/[=;]/)[1] ?? ''
  const stored = await shop.ctx.db
    .select()
    .from(sessions)
    .where(eq(sessions.tokenHash, hashToken(token)))
  expect(stored).toHaveLength(1)
  shop.ctx.config.secureCookies = true
  try {
    const secure = await shop.visitor().post(LOGIN, { username: user.username, password: TEST_PASSWORD })
    for (const line of secure.headers.getSetCookie()) expect(line).toMatch(/Secure/)
  } finally {
    shop.ctx.config.secureCookies = false
  }
})

test('a wrong user and a wrong password say the same', async () => {
  const { user } = await shop.customer()
  const wrongPassword = await visitorFromAnywhere(shop).post(LOGIN, { username: user.username, password: 'x' })
  const wrongUser = await visitorFromAnywhere(shop).post(LOGIN, { username: 'nobody9', password: 'x' })
  expect(wrongPassword).toMatchObject({ status: 401, code: 401, msg: WRONG })
  expect(wrongPassword.data).toEqual({ reason: 'wrong_login' })
  expect({ ...wrongUser, headers: null }).toEqual({ ...wrongPassword, headers: null })
})

test.each([
  { password: 'x' },
  { username: '', password: 'x' },
  { username: 'someone' },
  { username: 'x', password: '' }
])('an unfilled form is refused: %j', async form => expect((await shop.visitor().post(LOGIN, form)).status).toBe(400))

test('three failures for an account bring the captcha, from wherever; a solved one is used up', async () => {
  const { user } = await shop.customer()
  const wrong = { username: user.username, password: 'Wrong#2026' }
  const replies = []
  for (let i = 0; i < 3; i += 1) replies.push(await visitorFromAnywhere(shop).post<Refused>(LOGIN, wrong))
  expect(replies.map(reply => reply.msg)).toEqual([WRONG, WRONG, WRONG])
  expect(replies.map(reply => reply.data?.require_captcha)).toEqual([undefined, undefined, true])

  const visitor = visitorFromAnywhere(shop)
  const right = { username: user.username, password: TEST_PASSWORD }
  expect(await visitor.post(LOGIN, right)).toMatchObject({
    code: 401,
    msg: 'Please enter the captcha code!',
    data: { require_captcha: true, errors: { captcha: 'Please enter the captcha code!' } }
  })
  const solved = await solvedCaptcha(shop)
  const miss = await visitor.post(LOGIN, { ...right, ...solved, captcha: solved.captcha + 1 })
  expect(miss).toMatchObject({
    code: 400,
    msg: 'The captcha code is not correct',
    data: { require_captcha: true, errors: { captcha: 'The captcha code is not correct' } }
  })
  expect((await visitor.post(LOGIN, { ...right, ...solved })).msg).toBe('The captcha code is not correct')
  expect(await visitor.post(LOGIN, { ...wrong, ...(await solvedCaptcha(shop)) })).toMatchObject({
    msg: WRONG,
    data: { require_captcha: true }
  })
  expect((await visitor.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).code).toBe(2000)
  // Its owner has logged in, so the account starts again without failures.
  expect((await visitorFromAnywhere(shop).post(LOGIN, right)).code).toBe(2000)
})

test('three failures from an address bring the captcha, for any account; later they are forgotten', async () => {
  const { user } = await shop.customer()
  const visitor = visitorFromAnywhere(shop)
  for (const username of ['guess1', 'guess2', 'guess3']) await visitor.post(LOGIN, { username, password: 'x' })
  const right = { username: user.username, password: TEST_PASSWORD }
  expect(await visitor.post(LOGIN, right)).toMatchObject({ data: { require_captcha: true } })
  expect((await visitorFromAnywhere(shop).post(LOGIN, right)).code).toBe(2000)
  shop.advance(15 * MINUTE + 1000)
  expect((await visitor.post(LOGIN, right)).code).toBe(2000)
})

test('the captcha that is drawn works for five minutes', async () => {
  const { user } = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  for (let i = 0; i < 3; i += 1) await visitorFromAnywhere(shop).post(LOGIN, { ...right, password: 'x' })
  const drawn = async () => {
    const { data } = await shop.visitor().get<{ captcha_id: string; captcha_image_base: string }>('/api/auth/captcha')
    // An empty picture of this size takes a few hundred characters.
    expect(data.captcha_image_base).toMatch(/^data:image\/png;base64,.{2000}/)
    const [row] = await shop.ctx.db.select().from(captchas).where(eq(captchas.id, data.captcha_id))
    return { captcha_id: data.captcha_id, captcha: row?.answer }
  }
  const late = await drawn()
  shop.advance(5 * MINUTE + 1000)
  expect((await visitorFromAnywhere(shop).post(LOGIN, { ...right, ...late })).msg).toContain('captcha')
  expect((await visitorFromAnywhere(shop).post(LOGIN, { ...right, ...(await drawn()) })).code).toBe(2000)
})

test('the password is looked at again when the session is written', async () => {
  const client = await shop.customer()
  const { username, id } = client.user
  // Holds the login after the password check and before the session exists.
  const { db } = shop.ctx
  const visitor = visitorFromAnywhere(shop)
  const { login } = await db.transaction(async tx => {
    await tx.execute(sql`update users set password_hash = 'other' where id = ${id}`)
    const pending = visitor.post(LOGIN, { username, password: TEST_PASSWORD })
    await vi.waitFor(
      async () => {
        const { rows } = await db.execute(
          sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike '%users%'`
        )
        expect(rows.length).toBeGreaterThan(0)
      },
      { timeout: 30_000 }
    )
    return { login: pending }
  })
  expect(await login).toMatchObject({ code: 401, msg: WRONG })
  expect(await db.$count(sessions, eq(sessions.userId, id))).toBe(1)
})

test('a login from a new browser is mailed, one from a known browser is not, unless it is in another country', async () => {
  const { user } = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  const mails = async () => {
    const { rows } = await shop.ctx.db.execute<{ data: { data: { country: string } } }>(
      sql`select data from pgboss.job where name = 'send-mail' and data ->> 'template' = 'new-login' and data ->> 'to' = ${user.email} order by created_on, id`
    )
    return rows.map(row => row.data.data.country)
  }
  const first = shop.visitor({ ip: '8.8.8.8' })
  await first.post(LOGIN, right)
  expect(await mails()).toEqual([])
  await first.post(LOGIN, right)
  expect(await mails()).toEqual([])
  await shop.visitor({ ip: '8.8.8.8' }).post(LOGIN, right)
  expect(await mails()).toEqual(['US'])
  const travelled = shop.visitor({ ip: '193.99.144.80' })
  travelled.cookies.set('netlet_device', first.cookies.get('netlet_device') ?? '')
  await travelled.post(LOGIN, right)
  expect(await mails()).toEqual(['US', 'DE'])
  // Repeated logins without a cookie cause one mail, before and after its job has finished.
  await shop.ctx.db.execute(sql`delete from pgboss.job where data ->> 'to' = ${user.email}`)
  for (let i = 0; i < 4; i += 1) await shop.visitor({ ip: '8.8.8.8' }).post(LOGIN, right)
  const firefox = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0' }
  await shop.visitor({ ip: '8.8.8.8' }).post(LOGIN, right, firefox)
  const { rows } = await shop.ctx.db.execute<{ key: string }>(
    sql`select data ->> 'key' as key from pgboss.job where data ->> 'to' = ${user.email} order by 1`
  )
  expect(rows.map(row => row.key.split(':').at(-1))).toEqual(['Firefox', 'other'])
})

test('a banned user is told so, but only with the right password', async () => {
  const { user } = await shop.customer()
  await shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, user.id))
  const visitor = visitorFromAnywhere(shop)
  expect(await visitor.post(LOGIN, { username: user.username, password: TEST_PASSWORD })).toMatchObject({
    status: 403,
    msg: 'This account has been banned'
  })
  expect((await visitor.post(LOGIN, { username: user.username, password: 'x' })).msg).toBe(WRONG)
})

test('a login ends the session that the browser had before', async () => {
  const client = await shop.customer()
  const before = client.cookies.get(SESSION_COOKIE) ?? ''
  await client.post(LOGIN, { username: client.user.username, password: TEST_PASSWORD })
  expect(client.cookies.get(SESSION_COOKIE)).not.toBe(before)
  const thief = shop.visitor()
  thief.cookies.set(SESSION_COOKIE, before)
  expect((await thief.get(LOGIN)).code).toBe(401)
})

test('logging out ends the session and always succeeds', async () => {
  const client = await shop.customer()
  const token = client.cookies.get(SESSION_COOKIE) ?? ''
  expect(await client.get('/api/auth/logout')).toMatchObject({ code: 2000, data: null })
  expect(client.cookies.has(SESSION_COOKIE)).toBe(false)
  const thief = shop.visitor()
  thief.cookies.set(SESSION_COOKIE, token)
  expect((await thief.get(LOGIN)).code).toBe(401)
  expect((await thief.get('/api/auth/logout')).code).toBe(2000)
  expect((await shop.visitor().get('/api/auth/logout')).code).toBe(2000)
})

test('a session lives and is listed as long as it is used, and its use is written at most once an hour', async () => {
  const client = await shop.customer()
  const hash = hashToken(client.cookies.get(SESSION_COOKIE) ?? '')
  const lastSeen = async () => {
    const [row] = await shop.ctx.db.select().from(sessions).where(eq(sessions.tokenHash, hash))
    return row?.lastSeenAt.getTime() ?? 0
  }
  const start = await lastSeen()
  shop.advance(HOUR / 2)
  expect((await client.get(LOGIN)).code).toBe(2000)
  expect(await lastSeen()).toBe(start)
  shop.advance(20 * DAY)
  expect((await client.get(LOGIN)).code).toBe(2000)
  expect(await lastSeen()).toBeGreaterThan(start)
  shop.advance(20 * DAY)
  expect((await client.get(LOGIN)).code).toBe(2000)
  const elsewhere = shop.visitor()
  const listed = async () => (await elsewhere.get<unknown[]>('/api/users/sessions/')).data
  shop.advance(20 * DAY)
  await elsewhere.post(LOGIN, { username: client.user.username, password: TEST_PASSWORD })
  expect(await listed()).toHaveLength(2)
  shop.advance(11 * DAY)
  expect((await client.get(LOGIN)).code).toBe(401)
  expect(await listed()).toHaveLength(1)
})

test('many requests at once write the use of a session once', async () => {
  const client = await shop.customer()
  const { db } = shop.ctx
  await db.execute(sql`create table session_writes ()`)
  await db.execute(sql`create function count_session_write() returns trigger language plpgsql as
    'begin insert into session_writes default values; return new; end'`)
  await db.execute(sql`create trigger count_session_write after update on sessions
    for each row execute function count_session_write()`)
  shop.advance(2 * HOUR)
  await Promise.all(Array.from({ length: 8 }, () => client.get(LOGIN)))
  const { rows } = await db.execute(sql`select 1 from session_writes`)
  await db.execute(sql`drop function count_session_write cascade`)
  expect(rows).toHaveLength(1)
})

test('the own password: the others end, this one stays; the old one has to be right', async () => {
  const client = await shop.customer()
  const other = shop.visitor()
  await other.post(LOGIN, { username: client.user.username, password: TEST_PASSWORD })
  const CHANGE = '/api/users/change_password'
  const wrong = await client.post(CHANGE, { old_password: 'x', new_password: 'Other#2026' })
  expect(wrong).toMatchObject({ code: 400, msg: 'The password is not correct' })
  const changed = await client.post(CHANGE, { old_password: TEST_PASSWORD, new_password: 'Other#2026' })
  expect(changed).toMatchObject({ code: 2000, data: null })
  expect((await client.get(LOGIN)).code).toBe(2000)
  expect((await other.get(LOGIN)).code).toBe(401)
  expect((await other.post(LOGIN, { username: client.user.username, password: 'Other#2026' })).code).toBe(2000)
})

const hashOf = (client: TestClient) => hashToken(client.cookies.get(SESSION_COOKIE) ?? '')

test('an open session is no place to guess the old password; its owner is told, and changes it elsewhere', async () => {
  const client = await shop.customer()
  const { username, email, id } = client.user
  const change = { old_password: TEST_PASSWORD, new_password: 'Other#2026' }
  const CHANGE = '/api/users/change_password'
  await failed(shop, guessesKey(id, hashOf(client)), 18)
  for (const status of [400, 400, 429])
    expect((await client.post(CHANGE, { ...change, old_password: 'Wrong#2026' })).code).toBe(status)
  expect((await client.post(CHANGE, change)).code).toBe(429)
  const { rows } = await shop.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'send-mail' and data ->> 'template' = 'password-guesses' and data ->> 'to' = ${email}`
  )
  expect(rows).toHaveLength(1)
  const home = visitorFromAnywhere(shop)
  await home.post(LOGIN, { username, password: TEST_PASSWORD })
  expect((await home.post(CHANGE, change)).code).toBe(2000)
  expect((await client.get(LOGIN)).code).toBe(401)
})

test('a copy of the cookie in which the password is changed opens nothing afterwards', async () => {
  const boss = await shop.admin()
  const ways: [TestClient, () => Promise<{ code: number }>][] = []
  const owner = await shop.customer()
  ways.push([
    owner,
    () => owner.post('/api/users/change_password', { old_password: TEST_PASSWORD, new_password: 'Other#2026' })
  ])
  ways.push([boss, () => boss.post(`/api/users/u/${boss.user.id}/change_password/`, { password: 'Other#2026' })])
  ways.push([boss, () => boss.put(`/api/users/u/${boss.user.id}/`, { password: 'Third#2026' })])
  for (const [client, change] of ways) {
    const thief = shop.visitor()
    thief.cookies.set(SESSION_COOKIE, client.cookies.get(SESSION_COOKIE) ?? '')
    expect((await thief.get(LOGIN)).code).toBe(2000)
    expect((await change()).code).toBe(2000)
    expect((await client.get(LOGIN)).code).toBe(2000)
    expect((await thief.get(LOGIN)).code).toBe(401)
  }
})

const change = { old_password: TEST_PASSWORD, new_password: TEST_PASSWORD }
const REFUSED = { status: 403, code: 403, msg: 'This request did not come from the shop' }

test.each([
  ['our public address', { origin: 'http://shop.example.com' }],
  ['a program, which names none', {}]
])('a change is taken from %s', async (_name, headers) => {
  const client = await shop.customer()
  expect((await client.post('/api/users/change_password', change, headers)).code).toBe(2000)
})

test.each([
  ['http://localhost:8080', 'localhost:8080', 'http://127.0.0.1:8080', true],
  ['http://localhost:9000', 'localhost:9000', 'http://127.0.0.1:8080', true],
  ['http://localhost:9000', '127.0.0.1:8080', 'http://127.0.0.1:8080', false],
  ['http://evil.example', 'evil.example', 'http://127.0.0.1:8080', false],
  ['http://localhost:8080', 'localhost:8080', 'https://shop.example.com', false],
  ['https://192.0.2.1', '192.0.2.1', 'https://shop.example.com', false]
])('the origin %s at the host %s of a shop at %s is ours: %s', (origin, host, publicUrl, ours) => {
  expect(isOurOrigin(origin, host, publicUrl)).toBe(ours)
})

test.each(['https://evil.example.com', 'http://shop.example.com.evil.example', 'null', 'not an origin'])(
  'a change from %s is refused',
  async origin => {
    const client = await shop.customer()
    expect(await client.post('/api/users/change_password', change, { origin })).toMatchObject(REFUSED)
  }
)

test.each(['cross-site', 'same-site'])('a %s page cannot even log a user out, nor read', async site => {
  const client = await shop.customer()
  const headers = { 'sec-fetch-site': site }
  expect(await client.get('/api/auth/logout', headers)).toMatchObject(REFUSED)
  expect(await client.get('/api/auth/login', headers)).toMatchObject(REFUSED)
  for (const own of ['same-origin', 'none'])
    expect((await client.get('/api/auth/login', { 'sec-fetch-site': own })).code).toBe(2000)
})

test('the chat platform may send the browser back', async () => {
  const reply = await shop
    .visitor()
    .fetch('/api/auth/discord/redirect?error=access_denied', { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(reply.status).toBe(302)
  expect(reply.headers.get('location')).toBe('/login?discord=failed')
})
