import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import { accountRoutesWithPorts, visitorFromAnywhere } from './accounts.fixture.ts'
import { createCaptcha } from './captcha.ts'
import { verifyPassword } from './passwords.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts })
})
afterAll(() => shop.close())

const LOGIN = '/api/auth/login'
/** More than may wait. */
const FLOOD = 120

/** Has as many strangers' passwords checked at once until it is stopped, each followed by another. */
function flood() {
  let checked = 0
  const over = new AbortController()
  const check = async () => {
    while (!over.signal.aborted) {
      await verifyPassword(undefined, 'Wrong#2026', { first: false })
      checked++
    }
  }
  const all = Promise.all(Array.from({ length: FLOOD }, check))
  return {
    checked: () => checked,
    stop: async () => {
      over.abort()
      await all
    }
  }
}

test('passwords that are checked in a flood do not keep files from being read', async () => {
  const { checked, stop } = flood()
  await expect.poll(checked).toBeGreaterThan(0)
  const before = checked()
  await readFile(fileURLToPath(import.meta.url))
  // It waits for none of those that wait: some are checked meanwhile.
  expect(checked() - before).toBeLessThan(FLOOD / 2)
  await stop()
}, 60_000)

test('in a flood a browser that has logged in before gets in at once, and a stranger is asked to come again', async () => {
  const { user } = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  const known = visitorFromAnywhere(shop)
  expect((await known.post(LOGIN, right)).code).toBe(2000)
  const { checked, stop } = flood()
  await expect.poll(checked).toBeGreaterThan(0)
  expect(await visitorFromAnywhere(shop).post(LOGIN, right)).toMatchObject({
    status: 503,
    data: { reason: 'unavailable' }
  })
  const before = checked()
  expect((await known.post(LOGIN, right)).code).toBe(2000)
  expect(checked() - before).toBeLessThan(FLOOD / 2)
  await stop()
  expect((await visitorFromAnywhere(shop).post(LOGIN, right)).code).toBe(2000)
}, 60_000)

test('of captchas that are asked for at once so many are drawn, and the rest is refused', async () => {
  const made = await Promise.all(Array.from({ length: 150 }, () => createCaptcha(shop.ctx, SYSTEM)))
  const refused = made.filter(captcha => !captcha.ok)
  expect(refused).toHaveLength(49)
  expect(new Set(refused.map(captcha => !captcha.ok && captcha.reason))).toEqual(new Set(['unavailable']))
  expect((await shop.visitor().get('/api/auth/captcha')).code).toBe(2000)
}, 60_000)
