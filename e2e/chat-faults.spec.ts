import type { CurrentUser } from '@netlet/contract'
import { fault, leaveToBind, leaveToLogIn, logIn } from './chat-login.ts'
import { call, signedIn } from './console.ts'
import { expect, test } from './shop.ts'

// What else a login and a binding by the chat platform can come to; `chat.spec.ts` has the usual outcomes.

const AWAY = 'Discord does not answer right now'
const FAILED = 'The login with Discord did not succeed'

test('a login while the platform is silent, breaks off, or does not say who it is', async ({ page, shop }) => {
  const outcomes = [
    // The shop waits for its own ten seconds.
    ['timeout', 'oauth2/token', AWAY],
    ['lost', 'oauth2/token', AWAY],
    ['throttled', 'oauth2/token', AWAY],
    ['error500', 'users/@me', AWAY],
    ['html', 'users/@me', AWAY],
    ['half', 'users/@me', AWAY],
    ['lost', 'users/@me', AWAY],
    ['unauthorized', 'users/@me', FAILED]
  ] as const
  for (const [kind, path, words] of outcomes) {
    await leaveToLogIn(page, shop)
    await fault(shop, { kind, path })
    await page.getByRole('textbox', { name: 'User name' }).fill('walker.two')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page, `${kind} at ${path}`).toHaveURL(
      words === AWAY ? /\/login\?discord=failed&reason=unavailable$/ : /\/login\?discord=failed$/
    )
    await expect(page.getByText(words).first()).toBeVisible()
    expect((await page.request.get(`${shop.url}/api/auth/login`)).status()).toBe(401)
  }
  await fault(shop, { kind: 'none' })
})

test('connecting an account fails, is tried with a state that was used, and is done; then its user is banned', async ({
  page,
  shop
}) => {
  const { customer, url } = shop
  const redirects: string[] = []
  page.on('request', request => {
    if (request.url().includes('/api/auth/discord/bind_redirect')) redirects.push(request.url())
  })
  await logIn(page, shop, customer)
  await leaveToBind(page, shop, customer.password)
  await fault(shop, { kind: 'unauthorized', path: 'oauth2/token' })
  await page.getByRole('button', { name: /^Ines K/ }).click()
  await expect(page).toHaveURL(`${url}/dashboard/index/setting`)
  await expect(page.getByText('The Discord account could not be connected').first()).toBeVisible()
  await fault(shop, { kind: 'none' })

  // The way back of a binding that failed is used up.
  await page.goto(redirects[0] ?? '')
  await expect(page.getByText('The Discord account could not be connected').first()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Connect Discord' })).toBeVisible()
  await leaveToBind(page, shop, customer.password)
  await page.getByRole('button', { name: /^Ines K/ }).click()
  await expect(page.getByText('Connected as Ines K.')).toBeVisible()
  // So is the one of a binding that was done: nothing changes.
  await page.goto(redirects.at(-1) ?? '')
  await expect(page.getByText('The Discord account could not be connected').first()).toBeVisible()
  await expect(page.getByText('Connected as Ines K.')).toBeVisible()

  const mine = await call<CurrentUser>(page.request, 'get', `${url}/api/auth/login`)
  const admin = await signedIn(shop, 'admin')
  await call(admin, 'post', `/api/users/u/${mine.id}/baned_user/`, {})
  await page.context().clearCookies()
  await leaveToLogIn(page, shop)
  await page.getByRole('button', { name: /^Ines K/ }).click()
  await expect(page.getByText('This account has been banned').first()).toBeVisible()
  await expect(page).toHaveURL(/\/login/)
  expect((await page.request.get(`${url}/api/auth/login`)).status()).toBe(401)

  // The ban took the chat account off. The shop's other tests have the same customer.
  await call(admin, 'post', `/api/users/u/${mine.id}/unbaned_user/`, {})
  await admin.dispose()
})
