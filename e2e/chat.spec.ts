import type { PointRecord } from '@netlet/contract'
import type { Page } from '@playwright/test'
import { fault, leaveToBind, leaveToLogIn, logIn } from './chat-login.ts'
import { call } from './console.ts'
import { expect, test, type RunningShop } from './shop.ts'

// Every outcome of a login and of a binding by the chat platform, and its bot, as a newcomer meets them.

// The account that the first one connects is the other user's of the second one.
test.describe.configure({ mode: 'serial' })

const PASSWORD = 'Secret#2026'

/** How many messages have brought the page's user something. */
async function countedMessages(page: Page, { url }: RunningShop): Promise<number> {
  const path = `${url}/api/rewards/point_record/?limit=100`
  const { data } = await call<{ data: PointRecord[] }>(page.request, 'get', path)
  return data.filter(({ reason_code }) => reason_code === 'chat_message').length
}

test('a login by the chat platform: unknown, then known, refused, failed, used twice, and the platform away', async ({
  page,
  shop
}) => {
  // Unknown: the sign-up says whose account it will be, and connects it.
  await leaveToLogIn(page, shop)
  await page.getByRole('textbox', { name: 'User name' }).fill('walker.one')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(/\/createAccount\?discord_id=\d+&discord_name=walker\.one&username=walkerone$/)
  await expect(page.getByText('connected with the Discord account walker.one')).toBeVisible()
  const email = 'walker1@example.com'
  await page.getByRole('textbox', { name: 'Username' }).fill('walker1')
  await page.getByRole('textbox', { name: 'Email', exact: true }).fill(email)
  await page.getByRole('button', { name: 'send code' }).click()
  let code = ''
  await expect
    .poll(async () => {
      const mails = (await (await fetch(`${shop.platformUrl}/outbox.json`)).json()) as { to: string; text: string }[]
      code = /\d{6}/.exec(mails.find(mail => mail.to === email)?.text ?? '')?.[0] ?? ''
      return code
    })
    .not.toBe('')
  await page.getByRole('textbox', { name: 'Verification code' }).fill(code)
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD)
  await page.getByRole('textbox', { name: /confirm/i }).fill(PASSWORD)
  await page.getByRole('button', { name: 'sign up', exact: true }).click()
  await expect(page).toHaveURL(`${shop.url}/product`)
  await page.goto(`${shop.url}/dashboard/index/setting`)
  await expect(page.getByText('Connected as walker.one')).toBeVisible()

  // Known: logged in at once.
  const redirects: string[] = []
  page.on('request', request => {
    if (request.url().includes('/api/auth/discord/redirect')) redirects.push(request.url())
  })
  await leaveToLogIn(page, shop)
  await page.getByRole('textbox', { name: 'User name' }).fill('walker.one')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(`${shop.url}/product`)

  // The same way back once more: its state is used up, and nobody is logged in.
  await page.goto(redirects[0] ?? '')
  await expect(page).toHaveURL(/\/login/)
  await expect(page.getByText('The login with Discord did not succeed')).toBeVisible()

  await leaveToLogIn(page, shop)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page).toHaveURL(/\/login\?discord=failed&reason=refused$/)
  await expect(page.getByText('You did not allow the login with Discord')).toBeVisible()

  const kinds = [
    ['error500', 'Discord does not answer right now'],
    ['html', 'Discord does not answer right now'],
    ['half', 'Discord does not answer right now'],
    ['unauthorized', 'The login with Discord did not succeed']
  ] as const
  for (const [kind, words] of kinds) {
    await leaveToLogIn(page, shop)
    await fault(shop, { kind, path: 'oauth2/token' })
    await page.getByRole('textbox', { name: 'User name' }).fill('walker.one')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page).toHaveURL(/\/login\?discord=failed/)
    await expect(page.getByText(words).first()).toBeVisible()
  }
  await fault(shop, { kind: 'none' })
})

test('connecting a chat account: done, of another user, refused, the platform away; then its bot gives coins', async ({
  page,
  shop
}) => {
  await logIn(page, shop, shop.customer)
  await leaveToBind(page, shop, shop.customer.password)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByText('You did not allow the connection with Discord')).toBeVisible()
  await leaveToBind(page, shop, shop.customer.password)
  await fault(shop, { kind: 'throttled', path: 'users/@me' })
  await page.getByRole('button', { name: /^Ines K/ }).click()
  await expect(page.getByText('Discord does not answer right now')).toBeVisible()
  await fault(shop, { kind: 'none' })
  await leaveToBind(page, shop, shop.customer.password)
  await page.getByRole('textbox', { name: 'User name' }).fill('walker.one')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Discord bind failed,the discord account has been bound to other account').waitFor()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/setting`)
  await leaveToBind(page, shop, shop.customer.password)
  await page.getByRole('button', { name: /^Ines K/ }).click()
  await page.getByText('Discord bind successfully, Name: Ines K.').waitFor()
  await expect(page.getByText('Connected as Ines K.')).toBeVisible()

  // The demo's bot: write, and ask it.
  await page.goto(`${shop.platformUrl}/chat?as=ines.k`)
  await expect
    .poll(async () => {
      await page.reload()
      return page.getByText('The shop’s bot is connected.').isVisible()
    })
    .toBe(true)
  await page.getByRole('textbox', { name: 'Message' }).fill('Good morning')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByText('Good morning')).toBeVisible()
  // The bot counts it while it answers others.
  await expect.poll(() => countedMessages(page, shop)).toBe(1)
  await page.getByRole('button', { name: '/points' }).click()
  await expect(page.getByRole('status')).toContainText('only you can see this')
  await expect(page.getByRole('status')).toContainText('From messages today: 2 of 20')
  await page.getByRole('button', { name: '/proxies' }).click()
  await expect(page.getByRole('status')).toContainText('orders')
  await page.getByRole('textbox', { name: 'Write as' }).fill('somebody')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByText(/Your messages here earn coins once your account is connected/)).toBeVisible()
  await page.getByRole('button', { name: '/bind' }).click()
  await page.getByRole('status').getByRole('link').click()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/setting`)
  await expect(page.getByText(/Points: 2/)).toBeVisible()

  // How an operator sees it.
  await logIn(page, shop, shop.admin)
  await page.goto(`${shop.url}/dashboard/index/WebsiteSettings?tab=discord`)
  await expect(page.getByRole('region', { name: 'Chat bot' })).toContainText('Shop bot is connected')
})
