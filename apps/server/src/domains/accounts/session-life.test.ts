import { eq } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { hashToken } from '../../infra/secrets.ts'
import { addSession } from '../../testing/session.ts'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import { useStarted } from '../../testing/use-started.ts'
import { writeSettings } from '../settings/index.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { SESSION_COOKIE } from './sessions.ts'
import { sessions } from './tables.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts }))

const LOGIN = '/api/auth/login'
const HOST_COOKIE = `__Host-${SESSION_COOKIE}`
const lives = (operator_session_hours: number, customer_session_days: number) =>
  writeSettings(shop.ctx, { operator_session_hours, customer_session_days })

test('a session ends at the end of its life, however often it is used', async () => {
  await lives(12, 30)
  const [boss, client] = [await shop.admin(), await shop.customer()]
  const codes = async () => [(await boss.get(LOGIN)).code, (await client.get(LOGIN)).code]
  for (let hours = 0; hours < 10; hours += 2) {
    shop.advance(2 * HOUR)
    expect(await codes()).toEqual([2000, 2000])
  }
  shop.advance(2 * HOUR + 1000)
  expect(await codes()).toEqual([401, 2000])
  shop.advance(20 * DAY)
  expect(await codes()).toEqual([401, 2000])
  shop.advance(10 * DAY)
  expect(await codes()).toEqual([401, 401])
})

test('a shorter life ends sessions that are older', async () => {
  await lives(12, 30)
  const client = await shop.customer()
  shop.advance(3 * DAY)
  expect((await client.get(LOGIN)).code).toBe(2000)
  await lives(12, 2)
  shop.advance(2 * HOUR)
  expect((await client.get(LOGIN)).code).toBe(401)
})

test('viewing the shop as a customer, and returning, does not make an operator’s session longer', async () => {
  await lives(12, 30)
  const boss = await shop.admin()
  const { user } = await shop.customer()
  for (let at = 0; at < 3; at += 1) {
    shop.advance(3 * HOUR)
    expect((await boss.post('/api/users/admin/switch-user', { user_id: user.id })).code).toBe(2000)
    expect((await boss.post('/api/users/admin/switch-back')).code).toBe(2000)
  }
  expect((await boss.post('/api/users/admin/switch-user', { user_id: user.id })).code).toBe(2000)
  shop.advance(3 * HOUR + 1000)
  expect((await boss.get(LOGIN)).code).toBe(401)
})

test('over https the cookies are bound to the host, and sessions from before stay', async () => {
  const { user } = await shop.customer()
  // As an older version made it.
  const old = 'a-token-without-a-mark'
  const made = await addSession(shop.ctx, user.id)
  await shop.ctx.db
    .update(sessions)
    .set({ tokenHash: hashToken(old) })
    .where(eq(sessions.tokenHash, hashToken(made)))
  shop.ctx.config.secureCookies = true
  try {
    const browser = shop.visitor()
    browser.cookies.set(SESSION_COOKIE, old)
    expect((await browser.get(LOGIN)).code).toBe(2000)
    const login = await browser.post(LOGIN, { username: user.username, password: TEST_PASSWORD })
    const lines = login.headers.getSetCookie()
    const cookie = lines.find(line => line.startsWith(`${HOST_COOKIE}=`)) ?? ''
    expect(cookie).toMatch(/; Path=\/;/)
    expect(cookie).toMatch(/Secure/)
    expect(cookie).not.toMatch(/Domain/)
    expect(lines.some(line => line.startsWith('__Host-netlet_device='))).toBe(true)
    expect([...browser.cookies.keys()].toSorted()).toEqual(['__Host-netlet_device', HOST_COOKIE])
    expect((await browser.get(LOGIN)).code).toBe(2000)
    // Another host of the site cannot log a visitor in to an account of its own.
    const victim = shop.visitor()
    victim.cookies.set(SESSION_COOKIE, browser.cookies.get(HOST_COOKIE) ?? '')
    expect((await victim.get(LOGIN)).code).toBe(401)
    expect((await browser.get('/api/auth/logout')).code).toBe(2000)
    expect(browser.cookies.has(HOST_COOKIE)).toBe(false)
  } finally {
    shop.ctx.config.secureCookies = false
  }
})
