import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from '../../infra/db/drizzle.ts'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import type { TestClient } from '../../testing/client.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import { auditLog } from '../../infra/tables.ts'
import { mailJobs } from '../mail/index.ts'
import { refusedTokens } from '../notices/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { accountRoutesWithPorts, mailedCode, signUpForm, visitorFromAnywhere } from './accounts.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import { findRefusedClient, proposeName } from './discord.ts'
import { SESSION_COOKIE } from './sessions.ts'
import { logins, sessions, users } from './tables.ts'
import { addApp, codeOf } from './second-factor/second-factor.fixture.ts'

let redirects: (string | null)[] = []
/** Replaces the platform's replies for a path. */
let fault: { path: string; answer: (response: ServerResponse) => void } | undefined

/** A chat platform where the code 'code-7' belongs to account 7, called Seven. */
const platform = useStarted(async () => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (fault && request.url?.endsWith(fault.path)) return fault.answer(response)
      if (request.url === '/api/oauth2/token') {
        const form = new URLSearchParams(Buffer.concat(chunks).toString())
        redirects.push(form.get('redirect_uri'))
        if (form.get('client_secret') !== 'secret') {
          response.statusCode = 401
          return void response.end(JSON.stringify({ error: 'invalid_client' }))
        }
        const id = /^code-(\d+)$/.exec(form.get('code') ?? '')?.[1]
        response.statusCode = id ? 200 : 400
        response.end(
          JSON.stringify(id ? { access_token: `token-${id}`, token_type: 'Bearer' } : { error: 'invalid_grant' })
        )
        return
      }
      const id = /^Bearer token-(\d+)$/.exec(request.headers.authorization ?? '')?.[1]
      response.statusCode = id ? 200 : 401
      response.end(JSON.stringify(id ? { id, username: `user${id}`, global_name: `Name ${id}` } : {}))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    }
  }
})
const shop = useStarted(() =>
  startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs, config: { discordUrl: platform.url } })
)
beforeAll(() => configure({ discord_client_id: 'client', discord_client_secret: 'secret' }))

const configure = (values: Parameters<typeof writeSettings>[1]) => writeSettings(shop.ctx, values)

async function leave(client: TestClient, mode: 'login' | 'bind'): Promise<URL> {
  const { data } =
    mode === 'bind'
      ? await client.post<{ discord_auth_url: string }>('/api/auth/discord/bind', { password: TEST_PASSWORD })
      : await client.get<{ discord_auth_url: string }>('/api/auth/discord/login?mode=login')
  return new URL(data.discord_auth_url)
}

/** Returns from the platform. @returns where the shop redirects the browser */
async function applyReturn(client: TestClient, url: URL, id: number, mode: 'login' | 'bind' = 'login') {
  const state = url.searchParams.get('state') ?? ''
  const path = mode === 'bind' ? 'bind_redirect' : 'redirect'
  const reply = await client.fetch(`/api/auth/discord/${path}?code=code-${id}&state=${encodeURIComponent(state)}`)
  expect(reply.status).toBe(302)
  return reply.headers.get('location')
}

const bound = async (id: number, discordId: string) =>
  shop.ctx.db.update(users).set({ discordId, discordName: 'Old name' }).where(eq(users.id, id))

test('logs in who is bound, takes the name over, and goes to the products', async () => {
  const { user } = await shop.customer()
  await bound(user.id, '101')
  const visitor = shop.visitor({ ip: '8.8.8.8' })
  const url = await leave(visitor, 'login')
  expect(url.searchParams.get('redirect_uri')).toBe('http://shop.example.com/api/auth/discord/redirect')
  expect(await applyReturn(visitor, url, 101)).toBe('/product')
  expect(await visitor.get('/api/auth/login')).toMatchObject({
    data: { id: user.id, discord_name: 'Name 101', last_location: 'US' }
  })
})

test('asks an account with a second factor for it, behind the address that servers see', async () => {
  const client = await shop.customer()
  await bound(client.user.id, '130')
  const { secret } = await addApp(shop, client)
  const visitor = visitorFromAnywhere(shop)
  const to = await applyReturn(visitor, await leave(visitor, 'login'), 130)
  expect(to).toMatch(/^\/login#ticket=[\w-]+&second_factor=totp%2Crecovery$/)
  expect((await visitor.get('/api/auth/login')).code).toBe(401)
  const ticket = new URLSearchParams(to?.split('#')[1]).get('ticket')
  const step = { ticket, method: 'totp', code: codeOf(shop, secret) }
  expect(await visitor.post('/api/auth/second_factor', step)).toMatchObject({ data: { id: client.user.id } })
  const methods = await shop.ctx.db.select().from(logins).where(eq(logins.userId, client.user.id))
  expect(methods.map(({ method }) => method)).toEqual(['discord'])
})

test('the way back is good once, in the browser that left, and for ten minutes', async () => {
  const { user } = await shop.customer()
  await bound(user.id, '102')
  const visitor = shop.visitor()
  const url = await leave(visitor, 'login')
  expect(await applyReturn(shop.visitor(), url, 102)).toBe('/login?discord=failed')
  const other = shop.visitor()
  await leave(other, 'login')
  expect(await applyReturn(other, url, 102)).toBe('/login?discord=failed')
  expect(await applyReturn(visitor, url, 102)).toBe('/product')
  expect(await applyReturn(visitor, url, 102)).toBe('/login?discord=failed')
  const late = await leave(visitor, 'login')
  shop.advance(10 * MINUTE + 1000)
  expect(await applyReturn(visitor, late, 102)).toBe('/login?discord=failed')
})

test('the cookie of a browser that leaves is inaccessible to scripts', async () => {
  const { headers } = await shop.visitor().get('/api/auth/discord/login?mode=login')
  expect(headers.getSetCookie()).toEqual([expect.stringMatching(/HttpOnly.*SameSite=Lax/)])
})

test('without a client id the browser is not sent to the platform', async () => {
  await configure({ discord_client_id: '' })
  onTestFinished(() => configure({ discord_client_id: 'client' }))
  const reply = await shop.visitor().get('/api/auth/discord/login?mode=login')
  expect(reply).toMatchObject({ status: 503, data: { reason: 'discord_unavailable' } })
})

test('a refused or false code does not log in', async () => {
  const visitor = shop.visitor()
  const url = await leave(visitor, 'login')
  const state = encodeURIComponent(url.searchParams.get('state') ?? '')
  const denied = await visitor.fetch(`/api/auth/discord/redirect?error=access_denied&state=${state}`)
  expect(denied.headers.get('location')).toBe('/login?discord=failed&reason=refused')
  const again = await leave(visitor, 'login')
  const falseCode = encodeURIComponent(again.searchParams.get('state') ?? '')
  const reply = await visitor.fetch(`/api/auth/discord/redirect?code=nonsense&state=${falseCode}`)
  expect(reply.headers.get('location')).toBe('/login?discord=failed')
  expect((await visitor.get('/api/auth/login')).code).toBe(401)
})

test('a client secret that the platform refuses is told to operators, once, until it takes one', async () => {
  const refused = () => findRefusedClient(shop.ctx)
  expect(await refused()).toEqual([])
  await configure({ discord_client_secret: 'of before' })
  for (let times = 0; times < 2; times++) {
    const visitor = visitorFromAnywhere(shop)
    expect(await applyReturn(visitor, await leave(visitor, 'login'), 7)).toBe('/login?discord=failed')
  }
  const titles = async () => (await raisedNotices(shop.ctx.db)).map(({ title }) => title)
  expect(await titles()).toEqual(['Chat login (client ID and secret) refuses the token'])
  expect(await refused()).toMatchObject([{ subject: 'chat_client', words: 'token' }])
  expect(JSON.stringify(await refused())).not.toContain('of before')
  await configure({ discord_client_secret: 'secret' })
  expect(await refused()).toEqual([])
  const visitor = visitorFromAnywhere(shop)
  await applyReturn(visitor, await leave(visitor, 'login'), 7)
  expect(await shop.ctx.db.select().from(refusedTokens)).toEqual([])
})

const ends =
  (status: number, body = '{}') =>
  (response: ServerResponse) =>
    void response.writeHead(status).end(body)

test.each([
  ['answers 500', 131, ends(500), '&reason=unavailable'],
  ['asks to wait', 132, ends(429), '&reason=unavailable'],
  ['answers with a page', 133, ends(200, '<h1>Soon back</h1>'), '&reason=unavailable'],
  ['breaks off', 134, (response: ServerResponse) => void response.socket?.destroy(), '&reason=unavailable'],
  ['refuses', 135, ends(401), '']
])('a platform that %s causes no login and no bind, and the browser shows it', async (_, id, answer, why) => {
  const { user } = await shop.customer()
  await bound(user.id, String(id))
  for (const path of ['/oauth2/token', '/users/@me']) {
    const visitor = visitorFromAnywhere(shop)
    const [login, member] = [await leave(visitor, 'login'), await shop.customer()]
    const binding = await leave(member, 'bind')
    fault = { path, answer }
    try {
      expect(await applyReturn(visitor, login, id), path).toBe(`/login?discord=failed${why}`)
      expect(await applyReturn(member, binding, id + 10, 'bind'), path).toBe(
        `/dashboard/index/setting?discord=failed${why}`
      )
    } finally {
      fault = undefined
    }
    expect((await visitor.get('/api/auth/login')).code).toBe(401)
    expect(await member.get('/api/auth/login')).toMatchObject({ data: { discord_id: null } })
    // Nothing is left that would prevent another try.
    expect(await applyReturn(visitor, await leave(visitor, 'login'), id)).toBe('/product')
  }
})

test('a banned user does not get in this way', async () => {
  const { user } = await shop.customer()
  await bound(user.id, '103')
  await shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, user.id))
  const visitor = shop.visitor()
  expect(await applyReturn(visitor, await leave(visitor, 'login'), 103)).toBe('/login?discord=banned')
  expect((await visitor.get('/api/auth/login')).code).toBe(401)
})

test('who is unknown goes to the sign-up form, where only this browser can take the account along, once', async () => {
  const visitor = visitorFromAnywhere(shop)
  const location = await applyReturn(visitor, await leave(visitor, 'login'), 104)
  expect(location).toBe('/createAccount?discord_id=104&discord_name=Name+104&username=Name104')

  const stranger = visitorFromAnywhere(shop)
  const code = await mailedCode(shop, stranger, 'stranger@example.com', 'register')
  const stolen = await stranger.post(
    '/api/users/u/',
    signUpForm('Stranger', 'stranger@example.com', code, { discord_id: '104' })
  )
  expect(stolen.code).toBe(400)

  const own = await mailedCode(shop, visitor, 'own@example.com', 'register')
  const form = signUpForm('Owner1', 'own@example.com', own, { discord_id: '104' })
  expect(await visitor.post('/api/users/u/', form)).toMatchObject({
    code: 2000,
    data: { discord_id: '104', discord_name: 'Name 104' }
  })
  const again = visitorFromAnywhere(shop)
  expect(await applyReturn(again, await leave(again, 'login'), 104)).toBe('/product')
})

test('the sign-up proposes a free and valid user name like the chat account’s', async () => {
  const propose = (name: string) => proposeName(shop.ctx.db, name)
  for (const [name, proposed] of [
    ['walker.one', 'walkerone'],
    ['Zoë Müller-Lüdenscheidt', 'ZoeMullerL'],
    ['<b>"&x=1', 'bx10'],
    ['王小明', null],
    ['2026', null],
    ['', null]
  ] as const)
    expect(await propose(name), name).toBe(proposed)
  for (const username of ['WalkerOne', 'walkeron2', 'abcdefghij', '123456789a', '1234567b90'])
    await shop.customer({ username, email: `${username}@example.com` })
  expect(await propose('walker.one')).toBe('walkeron3')
  expect(await propose('abcdefghijklm')).toBe('abcdefgh2')
  // Replacing the last letters by a number would leave digits only, which is not a valid name.
  expect(await propose('123456789a')).toBeNull()
  expect(await propose('1234567b90')).toBe('1234567b2')
})

test('the proof for the sign-up lasts an hour', async () => {
  const visitor = visitorFromAnywhere(shop)
  await applyReturn(visitor, await leave(visitor, 'login'), 105)
  shop.advance(HOUR + 1000)
  const code = await mailedCode(shop, visitor, 'slowpoke@example.com', 'register')
  const form = signUpForm('Slowpoke', 'slowpoke@example.com', code, { discord_id: '105' })
  expect((await visitor.post('/api/users/u/', form)).code).toBe(400)
})

test('binds the own account and says so; an account that another user has is refused', async () => {
  const client = await shop.customer()
  redirects = []
  const location = await applyReturn(client, await leave(client, 'bind'), 106, 'bind')
  expect(location).toBe('/dashboard/index/setting?discord=success&name=Name%20106')
  expect(redirects).toEqual(['http://shop.example.com/api/auth/discord/bind_redirect'])
  expect(await client.get('/api/auth/login')).toMatchObject({ data: { discord_id: '106', discord_name: 'Name 106' } })

  const other = await shop.customer()
  const taken = await applyReturn(other, await leave(other, 'bind'), 106, 'bind')
  expect(taken).toBe('/dashboard/index/setting?discord=failed&reason=taken')
  expect(await other.get('/api/auth/login')).toMatchObject({ data: { discord_id: null } })
})

test('a bind needs a login and the password, ends as the same user, and is no login', async () => {
  expect((await shop.visitor().get('/api/auth/discord/login?mode=bind')).code).toBe(401)
  expect((await shop.visitor().post('/api/auth/discord/bind', { password: TEST_PASSWORD })).code).toBe(401)
  const stolen = await shop.customer()
  expect(await stolen.get('/api/auth/discord/login?mode=bind')).toMatchObject({
    code: 403,
    msg: 'Please enter your password again to do this'
  })
  expect(await stolen.post('/api/auth/discord/bind', { password: 'Guess#2026' })).toMatchObject({
    code: 400,
    data: { errors: { password: 'The password is not correct' } }
  })
  const failed = '/dashboard/index/setting?discord=failed'
  const client = await shop.customer()
  const url = await leave(client, 'bind')
  await client.get('/api/auth/logout')
  expect(await applyReturn(client, url, 107, 'bind')).toBe(failed)
  const other = await shop.customer()
  const crossed = await leave(other, 'login')
  expect(await applyReturn(other, crossed, 107, 'bind')).toBe(failed)
  expect(await shop.ctx.db.$count(users, eq(users.discordId, '107'))).toBe(0)
})

test('the redirect addresses of the settings are used if they are set', async () => {
  await configure({ discord_redirect_uri: 'https://other.example.com/back' })
  const url = await leave(shop.visitor(), 'login')
  expect(url.searchParams.get('redirect_uri')).toBe('https://other.example.com/back')
  await configure({ discord_redirect_uri: '' })
})

test('binding and unbinding are mailed and audited; unbinding asks for the password', async () => {
  const client = await shop.customer()
  const { user } = client
  await applyReturn(client, await leave(client, 'bind'), 108, 'bind')
  const [told] = await shop.outbox.waitFor(user.email)
  expect(told?.text).toContain('Name 108')
  const UNBIND = '/api/auth/discord/unbind'
  expect((await client.post(UNBIND, { password: 'Guess#2026' })).code).toBe(400)
  expect((await client.post(UNBIND, { password: TEST_PASSWORD })).code).toBe(2000)
  expect(await client.post(UNBIND, { password: TEST_PASSWORD })).toMatchObject({ code: 409 })
  expect(await client.get('/api/auth/login')).toMatchObject({ data: { discord_id: null, discord_name: null } })
  const mails = await shop.outbox.waitFor(user.email, 2)
  expect(mails.map(mail => mail.subject)).toEqual([
    'A Discord account was connected',
    'Your Discord account was disconnected'
  ])
  const entries = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.targetId, String(user.id)))
  expect(entries.map(entry => entry.action)).toEqual(['user.bind_discord', 'user.unbind_discord'])
})

test('a flow that was begun before the password was changed binds nothing', async () => {
  const owner = await shop.customer()
  const thief = shop.visitor()
  thief.cookies.set(SESSION_COOKIE, owner.cookies.get(SESSION_COOKIE) ?? '')
  const url = await leave(thief, 'bind')
  const form = { old_password: TEST_PASSWORD, new_password: 'Other#2026' }
  expect((await owner.post('/api/users/change_password', form)).code).toBe(2000)
  expect(await applyReturn(thief, url, 109, 'bind')).toBe('/dashboard/index/setting?discord=failed')
  expect(await shop.ctx.db.$count(users, eq(users.discordId, '109'))).toBe(0)
})

test('a chat account that was bound does not log in after a reset by mail; a change takes it off where asked to', async () => {
  const client = await shop.customer()
  const { email } = client.user
  await bound(client.user.id, '110')
  const visitor = visitorFromAnywhere(shop)
  const code = await mailedCode(shop, visitor, email, 'forgot')
  const { data: proof } = await visitor.post<object>('/api/users/forgot_password_verify', { email, ...code })
  expect((await visitor.post('/api/users/forgot_password', { email, password: 'Other#2026', ...proof })).code).toBe(
    2000
  )
  const thief = shop.visitor()
  expect(await applyReturn(thief, await leave(thief, 'login'), 110)).toBe(
    '/createAccount?discord_id=110&discord_name=Name+110&username=Name110'
  )

  const other = await shop.customer()
  await bound(other.user.id, '111')
  const change = { old_password: TEST_PASSWORD, new_password: 'Other#2026' }
  await other.post('/api/users/change_password', change)
  expect(await other.get('/api/auth/login')).toMatchObject({ data: { discord_id: '111' } })
  const again = { old_password: 'Other#2026', new_password: 'Third#2026', unbind_discord: true }
  await other.post('/api/users/change_password', again)
  expect(await other.get('/api/auth/login')).toMatchObject({ data: { discord_id: null } })
})

test('a chat account that a thief bound logs in to nothing after an administrator has mended the account', async () => {
  const boss = await shop.admin()
  const mends: ((id: number) => Promise<{ code: number }>)[] = [
    id => boss.post(`/api/users/u/${id}/change_password/`, { password: 'Fresh#2026' }),
    id => boss.put(`/api/users/u/${id}/`, { password: 'Fresh#2026' }),
    async id => {
      await boss.post(`/api/users/u/${id}/baned_user/`)
      return boss.post(`/api/users/u/${id}/unbaned_user/`)
    },
    async id => {
      await boss.post(`/api/users/u/${id}/baned_user/`)
      const { data } = await boss.get<{ data: { id: number; version: string }[] }>('/api/users/u/')
      return boss.put(`/api/users/u/${id}/`, {
        is_active: true,
        version: data.data.find(row => row.id === id)?.version
      })
    },
    id => boss.put(`/api/users/u/${id}/`, { is_superuser: true }),
    id => boss.post(`/api/users/u/${id}/unbind_discord/`)
  ]
  for (const [n, mend] of mends.entries()) {
    const { user } = await shop.customer()
    const chat = 140 + n
    await bound(user.id, String(chat))
    expect((await mend(user.id)).code, `mend ${n}`).toBe(2000)
    const thief = visitorFromAnywhere(shop)
    expect(await applyReturn(thief, await leave(thief, 'login'), chat)).toBe(
      `/createAccount?discord_id=${chat}&discord_name=Name+${chat}&username=Name${chat}`
    )
    expect((await thief.get('/api/auth/login')).code).toBe(401)
    await shop.drain()
    const subjects = shop.outbox.mails.filter(mail => mail.to === user.email).map(mail => mail.subject)
    expect(subjects).toContain('Your Discord account was disconnected')
  }
  const { user } = await shop.customer()
  expect(await boss.post(`/api/users/u/${user.id}/unbind_discord/`)).toMatchObject({ code: 409 })
  expect((await boss.post('/api/users/u/99999/unbind_discord/')).code).toBe(404)
  // During the ban its chat account cannot sign up again.
  await bound(user.id, '150')
  await boss.post(`/api/users/u/${user.id}/baned_user/`)
  const banned = visitorFromAnywhere(shop)
  expect(await applyReturn(banned, await leave(banned, 'login'), 150)).toBe('/login?discord=banned')
})

test('a chat log-in that races a ban leaves no session behind', async () => {
  const boss = await shop.admin()
  for (let i = 0; i < 3; i += 1) {
    const { user } = await shop.customer()
    await bound(user.id, String(120 + i))
    const visitor = visitorFromAnywhere(shop)
    const url = await leave(visitor, 'login')
    await Promise.all([applyReturn(visitor, url, 120 + i), boss.post(`/api/users/u/${user.id}/baned_user/`)])
    expect(await shop.ctx.db.$count(sessions, eq(sessions.userId, user.id))).toBe(0)
  }
})
