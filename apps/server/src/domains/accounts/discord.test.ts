import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { writeSettings } from '../settings/index.ts'
import { accountRoutesWithPorts, mailedCode, signUpForm, visitorFromAnywhere } from './accounts.fixture.ts'
import { users } from './tables.ts'

let shop: TestShop
let platform: Server
let redirects: (string | null)[] = []

beforeAll(async () => {
  // A chat platform where the code 'code-7' belongs to the account 7, called Seven.
  platform = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (request.url === '/api/oauth2/token') {
        const form = new URLSearchParams(Buffer.concat(chunks).toString())
        redirects.push(form.get('redirect_uri'))
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
  platform.listen(0, '127.0.0.1')
  await once(platform, 'listening')
  shop = await startTestShop({
    routes: accountRoutesWithPorts,
    jobs: mailJobs,
    config: { discordUrl: `http://127.0.0.1:${(platform.address() as AddressInfo).port}` }
  })
  await configure({ discord_client_id: 'client', discord_client_secret: 'secret' })
})
afterAll(async () => {
  await shop.close()
  platform.closeAllConnections()
  platform.close()
})

const configure = (values: Parameters<typeof writeSettings>[1]) => writeSettings(shop.ctx, values)

async function leave(client: TestClient, mode: 'login' | 'bind'): Promise<URL> {
  const { data } = await client.get<{ discord_auth_url: string }>(`/api/auth/discord/login?mode=${mode}`)
  return new URL(data.discord_auth_url)
}

/** Comes back from the platform; gives where the shop sends the browser then. */
async function comeBack(client: TestClient, url: URL, id: number, mode: 'login' | 'bind' = 'login') {
  const state = url.searchParams.get('state') ?? ''
  const path = mode === 'bind' ? 'bind_redirect' : 'redirect'
  const reply = await client.fetch(`/api/auth/discord/${path}?code=code-${id}&state=${encodeURIComponent(state)}`)
  expect(reply.status).toBe(302)
  return reply.headers.get('location')
}

const bound = async (id: number, discordId: string) =>
  shop.ctx.db.update(users).set({ discordId, discordName: 'Old name' }).where(eq(users.id, id))

test('without a client id there is no way to the platform', async () => {
  await configure({ discord_client_id: '' })
  try {
    const reply = await shop.visitor().get('/api/auth/discord/login?mode=login')
    expect(reply).toMatchObject({ status: 503, msg: 'Unable to obtain third-party login path!' })
  } finally {
    await configure({ discord_client_id: 'client' })
  }
})

test('logs in who is bound, takes the name over, and goes to the products', async () => {
  const { user } = await shop.customer()
  await bound(user.id, '101')
  const visitor = shop.visitor({ ip: '8.8.8.8' })
  const url = await leave(visitor, 'login')
  expect(url.searchParams.get('redirect_uri')).toBe('http://shop.example.com/api/auth/discord/redirect')
  expect(await comeBack(visitor, url, 101)).toBe('/product')
  expect(await visitor.get('/api/auth/login')).toMatchObject({
    data: { id: user.id, discord_name: 'Name 101', last_location: 'US' }
  })
})

test('the way back is good once, in the browser that left, and for ten minutes', async () => {
  const { user } = await shop.customer()
  await bound(user.id, '102')
  const visitor = shop.visitor()
  const url = await leave(visitor, 'login')
  expect(await comeBack(shop.visitor(), url, 102)).toBe('/login?discord=failed')
  const other = shop.visitor()
  await leave(other, 'login')
  expect(await comeBack(other, url, 102)).toBe('/login?discord=failed')
  expect(await comeBack(visitor, url, 102)).toBe('/product')
  expect(await comeBack(visitor, url, 102)).toBe('/login?discord=failed')
  const late = await leave(visitor, 'login')
  shop.advance(10 * MINUTE + 1000)
  expect(await comeBack(visitor, late, 102)).toBe('/login?discord=failed')
})

test('a refused or false code logs nobody in', async () => {
  const visitor = shop.visitor()
  const url = await leave(visitor, 'login')
  const state = encodeURIComponent(url.searchParams.get('state') ?? '')
  const denied = await visitor.fetch(`/api/auth/discord/redirect?error=access_denied&state=${state}`)
  expect(denied.headers.get('location')).toBe('/login?discord=failed')
  const again = await leave(visitor, 'login')
  const falseCode = encodeURIComponent(again.searchParams.get('state') ?? '')
  const reply = await visitor.fetch(`/api/auth/discord/redirect?code=nonsense&state=${falseCode}`)
  expect(reply.headers.get('location')).toBe('/login?discord=failed')
  expect((await visitor.get('/api/auth/login')).code).toBe(401)
})

test('a banned user does not get in this way', async () => {
  const { user } = await shop.customer()
  await bound(user.id, '103')
  await shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, user.id))
  const visitor = shop.visitor()
  expect(await comeBack(visitor, await leave(visitor, 'login'), 103)).toBe('/login?discord=banned')
  expect((await visitor.get('/api/auth/login')).code).toBe(401)
})

test('who is unknown goes to the sign-up form, where only this browser can take the account along, once', async () => {
  const visitor = visitorFromAnywhere(shop)
  const location = await comeBack(visitor, await leave(visitor, 'login'), 104)
  expect(location).toBe('/createAccount?discord_id=104')

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
  expect(await comeBack(again, await leave(again, 'login'), 104)).toBe('/product')
})

test('the proof for the sign-up lasts an hour', async () => {
  const visitor = visitorFromAnywhere(shop)
  await comeBack(visitor, await leave(visitor, 'login'), 105)
  shop.advance(HOUR + 1000)
  const code = await mailedCode(shop, visitor, 'slowpoke@example.com', 'register')
  const form = signUpForm('Slowpoke', 'slowpoke@example.com', code, { discord_id: '105' })
  expect((await visitor.post('/api/users/u/', form)).code).toBe(400)
})

test('binds the own account and says so; an account that another user has is refused', async () => {
  const client = await shop.customer()
  redirects = []
  const location = await comeBack(client, await leave(client, 'bind'), 106, 'bind')
  expect(location).toBe('/dashboard/index/setting?discord=success&name=Name%20106')
  expect(redirects).toEqual(['http://shop.example.com/api/auth/discord/bind_redirect'])
  expect(await client.get('/api/auth/login')).toMatchObject({ data: { discord_id: '106', discord_name: 'Name 106' } })

  const other = await shop.customer()
  const taken = await comeBack(other, await leave(other, 'bind'), 106, 'bind')
  expect(taken).toBe('/dashboard/index/setting?discord=failed&reason=taken')
  expect(await other.get('/api/auth/login')).toMatchObject({ data: { discord_id: null } })
})

test('a bind needs a login, ends as the same user, and is no login', async () => {
  expect((await shop.visitor().get('/api/auth/discord/login?mode=bind')).code).toBe(401)
  const failed = '/dashboard/index/setting?discord=failed'
  const client = await shop.customer()
  const url = await leave(client, 'bind')
  await client.get('/api/auth/logout')
  expect(await comeBack(client, url, 107, 'bind')).toBe(failed)
  const other = await shop.customer()
  const crossed = await leave(other, 'login')
  expect(await comeBack(other, crossed, 107, 'bind')).toBe(failed)
  expect(await shop.ctx.db.$count(users, eq(users.discordId, '107'))).toBe(0)
})

test('the redirect addresses of the settings are used where they are set', async () => {
  await configure({ discord_redirect_uri: 'https://other.example.com/back' })
  const url = await leave(shop.visitor(), 'login')
  expect(url.searchParams.get('redirect_uri')).toBe('https://other.example.com/back')
  await configure({ discord_redirect_uri: '' })
})
