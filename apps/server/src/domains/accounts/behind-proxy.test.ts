import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import { accountPorts } from '../../ports.ts'
import { supportRoutes } from '../support/index.ts'
import { failed, solvedCaptcha } from './accounts.fixture.ts'
import { accountRoutes } from './index.ts'
import { loginFailures, users } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const shop = useStarted(() =>
  startTestShop({
    routes: (mount, ctx) => {
      accountRoutes(mount, ctx, accountPorts(ctx))
      supportRoutes(mount, ctx)
    },
    // A reverse proxy on this machine, unknown to the shop.
    config: { trustProxy: false }
  })
)

const failing = (key: string) =>
  shop.ctx.db.insert(loginFailures).values(Array.from({ length: 60 }, () => ({ key, at: shop.ctx.now() })))

test('behind a proxy that TRUST_PROXY does not name, one client’s failures do not lock out the others', async () => {
  const { user } = await shop.customer()
  const login = (ip?: string) =>
    shop
      .visitor(ip === undefined ? {} : { ip })
      .post('/api/auth/login', { username: user.username, password: TEST_PASSWORD })
  await failing('ip:203.0.113.7')
  expect(await login('203.0.113.7')).toMatchObject({ status: 429 })
  // The proxy writes the last entry; earlier ones may be made up by its client.
  expect(await login('198.51.100.9, 203.0.113.7')).toMatchObject({ status: 429 })
  expect(await login('203.0.113.8')).toMatchObject({ code: 2000 })
  await failing('ip:127.0.0.1')
  expect(await login('203.0.113.9')).toMatchObject({ code: 2000 })
  expect(await login()).toMatchObject({ status: 429 })
  // The recorded address is the connection's own, because the header may be made up.
  const [row] = await shop.ctx.db.select({ ip: users.lastLoginIp }).from(users)
  expect(row?.ip).toBe('127.0.0.1')
})

test('behind such a proxy one visitor does not block the codes or tickets of others', async () => {
  const code = (ip: string, email: string) =>
    shop.visitor({ ip }).post('/api/users/email_validate', { email, type: 'register' })
  expect((await code('203.0.113.20', 'a@example.com')).code).toBe(2000)
  expect((await code('203.0.113.20', 'a@example.com')).code).toBe(429)
  expect((await code('203.0.113.21', 'b@example.com')).code).toBe(2000)

  const ticket = async (ip: string) =>
    shop.visitor({ ip }).post('/api/tickets/ticket/', {
      username: 'somebody',
      email: 'a@example.com',
      phone: '123456789',
      message: 'There is a question',
      ...(await solvedCaptcha(shop))
    })
  // Wrong captchas count for the client that sent them.
  await failing('ip:127.0.0.1')
  await failing('ip:203.0.113.22')
  expect((await ticket('203.0.113.22')).code).toBe(429)
  for (let sent = 0; sent < 10; sent += 1) expect((await ticket('203.0.113.20')).code).toBe(2000)
  expect((await ticket('203.0.113.20')).code).toBe(429)
  expect((await ticket('203.0.113.21')).code).toBe(2000)
})

test('a client that makes up forwarded addresses is stopped by a limit for the whole proxy', async () => {
  const code = (ip: string) =>
    shop.visitor({ ip }).post('/api/users/email_validate', { email: `of.${ip}@example.com`, type: 'register' })
  await shop.ctx.db.delete(loginFailures)
  await failed(shop, 'forwarded-code:127.0.0.1', 149)
  expect((await code('203.0.113.30')).code).toBe(2000)
  expect((await code('203.0.113.31')).code).toBe(429)
  // Requests that are refused anyway do not count.
  expect(await shop.ctx.db.$count(loginFailures, eq(loginFailures.key, 'forwarded-code:127.0.0.1'))).toBe(150)
})

test('a visitor who makes up addresses blocks no login, and no code for a known browser; administrators get one notice', async () => {
  await shop.ctx.db.delete(loginFailures)
  await shop.admin()
  const { user } = await shop.customer()
  const known = shop.visitor({ ip: '203.0.113.40' })
  const login = (client: TestClient) =>
    client.post('/api/auth/login', { username: user.username, password: TEST_PASSWORD })
  expect(await login(known)).toMatchObject({ code: 2000 })
  const code = (client: TestClient, email: string, type = 'register') =>
    client.post('/api/users/email_validate', { email, type })
  const madeUp = Array.from({ length: 60 }, (_, n) => `198.18.0.${n}`)
  await failed(shop, 'forwarded-code:127.0.0.1', 140)
  const replies = await Promise.all(madeUp.map(ip => code(shop.visitor({ ip }), `of.${ip}@example.com`)))
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(10)
  for (const ip of madeUp)
    await shop.visitor({ ip }).post('/api/auth/login', { username: 'nobody', password: 'Wrong-123' })
  expect(await login(shop.visitor({ ip: '203.0.113.41' }))).toMatchObject({ code: 2000 })
  expect(await code(known, user.email, 'forgot')).toMatchObject({ code: 2000 })
  // A newcomer looks like the one who makes addresses up: docs/SECURITY.md tells what to do.
  expect(await code(shop.visitor({ ip: '203.0.113.42' }), 'new@example.com')).toMatchObject({ status: 429 })
  const { rows } = await shop.ctx.db.execute(sql`
    select data ->> 'key' as key from pgboss.job where name = 'raise-notice'`)
  expect(rows).toMatchObject([{ key: expect.stringMatching(/^forwarded:code:/) }])
}, 120_000)
