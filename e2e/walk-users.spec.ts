import { request as requests } from '@playwright/test'
import { answer, asAdmin, buy, call, choose, failing, said } from './console.ts'
import { expect, test, type RunningShop } from './shop.ts'
import { inDatabase, newCustomer, PASSWORD } from './shopper.ts'

const USERS = '/dashboard/index/userList'

/** An address of each of the 20 countries that have a flag, and of one that has none. */
const FROM = new Map(
  [
    'CN 1.0.8.8, US 1.178.8.8, JP 1.5.8.8, KR 1.11.8.8, GB 1.186.8.8, DE 2.21.8.8, FR 2.3.8.8, IT 2.32.8.8',
    'RU 2.26.8.8, BR 4.160.8.8, IN 1.6.8.8, AU 1.40.8.8, CA 3.96.8.8, HK 1.36.8.8, MY 1.9.8.8, SG 3.0.8.8',
    'TW 1.34.8.8, TH 1.20.8.8, VN 1.52.8.8, ID 9.154.8.8'
  ]
    .join(', ')
    .split(', ')
    .map(one => one.split(' ') as [country: string, ip: string])
)
const SWEDEN = '2.64.8.8'

/** Makes calls from an address, which the shop is told by the proxy in front of it. To be disposed of. */
const from = (shop: RunningShop, ip: string) =>
  requests.newContext({ baseURL: shop.url, extraHTTPHeaders: { 'x-forwarded-for': ip } })

async function logIn(shop: RunningShop, username: string, ip: string): Promise<void> {
  const request = await from(shop, ip)
  await call(request, 'post', '/api/auth/login', { username, password: PASSWORD })
  await request.dispose()
}

/** As an account is that somebody else made, and that nobody has used yet: a sign-up logs in. */
const NEVER_LOGGED_IN = 'last_login = null, last_login_ip = null, last_location = null'
/** As somebody is who has bound a chat account. */
const CHAT_ACCOUNT = "discord_id = '77', discord_name = 'wal ker#1234'"

const setUser = (shop: RunningShop, username: string, values: string) =>
  inDatabase(shop, `update users set ${values} where username = $1`, [username])

test('users: search, ban, unban, delete, view orders and switch ask, do nothing after NO, and say what came of it', async ({
  page,
  shop
}) => {
  const order = await buy(shop)
  const { username } = await newCustomer(shop)
  await asAdmin(page, shop)
  await page.goto(shop.url + USERS)
  await expect(page.getByRole('heading', { name: 'User Manage', level: 1 })).toBeVisible()
  await expect(page.getByRole('combobox', { name: 'Rows per page' })).toHaveValue('10')
  await page.getByRole('searchbox', { name: 'Username or email' }).fill(username)
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
  const row = page.getByRole('row').filter({ hasText: username })

  for (const [entry, title, before, after] of [
    ['Ban', 'Ban this user ?', 'Active', 'Banned'],
    ['Unban', 'Unban this user ?', 'Banned', 'Active']
  ] as const) {
    await choose(page, username, entry)
    await answer(page, title, 'NO', username)
    await expect(row.getByText(before, { exact: true })).toBeVisible()
    await choose(page, username, entry)
    await answer(page, title, 'YES')
    await said(page, 'successfully')
    await expect(row.getByText(after, { exact: true })).toBeVisible()
  }

  await choose(page, username, 'Switch to User')
  await answer(page, 'Switch user ?', 'NO', username)
  await said(page, 'Operation cancelled')
  await expect(page).toHaveURL(`${shop.url}${USERS}?search=${username}`)
  const end = await failing(page, /\/switch-user/, { method: 'POST' })
  await choose(page, username, 'Switch to User')
  await answer(page, 'Switch user ?', 'YES')
  await said(page, 'Failed to switch user')
  await end()

  await choose(page, username, 'View orders')
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/orders/${username}`)
  await expect(page.getByRole('searchbox')).toHaveValue(username)
  await expect(page.getByText('No order matches')).toBeVisible()
  await page.goBack()

  await choose(page, username, 'Switch to User')
  await answer(page, 'Switch user ?', 'YES')
  await said(page, 'Switch user successfully')
  await expect(page).toHaveURL(`${shop.url}/`)
  await page.getByRole('button', { name: `Back to ${shop.admin.username}` }).click()
  await expect(page.getByRole('heading', { name: 'Orders', level: 1 })).toBeVisible()

  // Who has live proxies stays; who has none goes.
  await page.goto(`${shop.url}${USERS}?search=${order.username}`)
  await choose(page, order.username, 'Delete')
  const why = page.getByRole('dialog', { name: `${order.username} cannot be deleted now` })
  await expect(why).toContainText(`Orders of ${order.username} still hold proxies`)
  await expect(why.getByRole('button', { name: 'YES' })).toHaveCount(0)
  await why.getByRole('button', { name: 'Close' }).click()
  await expect(why).toBeHidden()
  await page.goto(`${shop.url}${USERS}?search=${username}`)
  await choose(page, username, 'Delete')
  await answer(page, 'Confirm deletion', 'NO', 'Delete ?')
  await expect(row).toBeVisible()
  await choose(page, username, 'Delete')
  await answer(page, 'Confirm deletion', 'YES')
  await said(page, 'successfully')
  await expect(page.getByText('No user matches')).toBeVisible()
})

test('users: the Edit dialog has three cards, stays open beside a click, and says what is missing and done', async ({
  page,
  shop
}) => {
  const { username } = await newCustomer(shop)
  await setUser(shop, username, `${NEVER_LOGGED_IN}, ${CHAT_ACCOUNT}`)
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${USERS}?search=${username}`)
  await choose(page, username, 'Edit')
  const dialog = page.getByRole('dialog', { name: `Edit: ${username}` })
  const information = dialog.getByRole('region', { name: 'User information' })
  for (const fact of ['Username', username, 'Registered', 'Status', 'Active', 'Level', 'Invited users'])
    await expect(information.getByText(fact, { exact: true })).toBeVisible()
  const account = dialog.getByRole('region', { name: 'Account management' })
  await expect(account.getByLabel('Email')).toHaveValue(`${username}@example.com`)
  await expect(account.getByText('Discord', { exact: true })).toBeVisible()
  const profile = account.getByRole('link', { name: 'wal ker#1234' })
  await expect(profile).toHaveAttribute('href', 'https://discord.com/users/wal%20ker')
  await expect(profile).toHaveAttribute('target', '_blank')
  await expect(account.getByRole('switch', { name: 'Admin' })).not.toBeChecked()
  const more = dialog.getByRole('region', { name: 'Additional info' })
  await expect(more.getByText('Never', { exact: true })).toBeVisible()
  await expect(more.getByText('Unknown', { exact: true })).toBeVisible()

  await page.mouse.click(5, 400)
  await expect(dialog).toBeVisible()
  const coins = account.getByLabel('Coins')
  for (const wrong of ['', '-1', 'many', '100000001']) {
    await coins.fill(wrong)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(dialog.getByText('Please enter points', { exact: true })).toBeVisible()
  }
  await coins.fill('0')
  const reset = dialog.getByRole('button', { name: 'Reset password' })
  await reset.click()
  await expect(dialog.getByText('Please enter password', { exact: true })).toBeVisible()
  await dialog.getByLabel('New password').fill('Other#2026')
  await reset.click()
  await answer(page, 'Reset the password ?', 'NO', username)
  await expect(dialog.getByLabel('New password')).toHaveValue('Other#2026')
  await reset.click()
  await answer(page, 'Reset the password ?', 'YES')
  await said(page, 'success')
  await expect(dialog.getByLabel('New password')).toHaveValue('')

  await coins.fill('+100000000')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await answer(page, 'Discard the changes?', 'NO')
  const end = await failing(page, /\/api\/users\/u\/\d+\/$/, { method: 'PUT', lost: true })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByRole('alert')).toContainText('The shop cannot be reached')
  await end()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await said(page, 'successfully')
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('row').filter({ hasText: username })).toContainText('100,000,000')
})

test('users: a log-in is shown with the flag of its country, or with a globe', async ({ page, shop }) => {
  const { username } = await newCustomer(shop)
  for (const ip of FROM.values()) await logIn(shop, username, ip)
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${USERS}?search=${username}`)
  const row = page.getByRole('row').filter({ hasText: username })
  await expect(row.locator('img[data-country="ID"]')).toBeVisible()
  await row.getByRole('link', { name: username, exact: true }).click()
  await page.getByRole('tab', { name: 'Logins' }).click()
  const newest = [...FROM.keys()].toReversed()
  const shown = () =>
    page.evaluate<string[]>(
      "[...document.querySelectorAll('[role=tabpanel] img[data-country]')].map(flag => flag.naturalWidth && flag.dataset.country)"
    )
  await expect.poll(shown).toEqual(newest.slice(0, 10))
  await page.getByRole('button', { name: 'Next', exact: true }).click()
  await expect.poll(shown).toEqual(newest.slice(10))

  await logIn(shop, username, SWEDEN)
  await page.goto(`${shop.url}${USERS}?search=${username}`)
  await expect(row).toContainText(SWEDEN)
  await expect(row.locator('[data-globe]')).toBeVisible()
  await expect(row.locator('img[data-country]')).toHaveCount(0)
  await choose(page, username, 'Edit')
  await expect(page.getByRole('region', { name: 'Additional info' })).toContainText('Sweden (SE)')
})
