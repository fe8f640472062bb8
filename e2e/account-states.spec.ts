import { readFile } from 'node:fs/promises'
import type { User } from '@netlet/contract'
import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { answer, call, said, signedIn } from './console.ts'
import { expect, test } from './shop.ts'
import { asNewCustomer, codeTo, elsewhere, newCustomer, PASSWORD } from './shopper.ts'

// What becomes of a customer's account, coins and codes, as its owner sees it: each test with an account of its own.

const AT = '/dashboard/index'

const partOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

test('a forgotten password: a code every ten minutes, the second step, and back to an empty login', async ({
  page,
  shop
}) => {
  const { username, email } = await newCustomer(shop)
  await page.clock.install()
  await page.setExtraHTTPHeaders(elsewhere())
  await page.goto(`${shop.url}/forgot`)
  const field = (name: string) => page.getByRole('textbox', { name, exact: true })
  await field('Email').fill(email)
  const send = page.getByRole('button', { name: 'send code' })
  const wait = page.getByRole('button', { name: /^\d+ s$/ })

  await test.step('the countdown of 600 seconds, by a clock that is moved', async () => {
    await said(page, 'Sending succeeded', () => send.click())
    await expect(wait).toBeDisabled()
    await expect(wait).toHaveText(/^(600|59\d|58\d) s$/)
    await page.clock.fastForward('09:30')
    await expect(wait).toBeDisabled()
    await expect(wait).toHaveText(/^[1-3]?\d s$/)
    await page.clock.fastForward('00:31')
    await expect(send).toBeEnabled()
    await expect(wait).toHaveCount(0)
  })

  await test.step('a wrong code stays in the first step, the right one leads to the second', async () => {
    await field('Verification code').fill('000000')
    await page.getByRole('button', { name: 'Next' }).click()
    await expect(field('Verification code')).toHaveAccessibleDescription(
      'The verification code is not correct or has expired'
    )
    await field('Verification code').fill(await codeTo(shop, email))
    await page.getByRole('button', { name: 'Next' }).click()
    await expect(page).toHaveURL(`${shop.url}/forgot?step=reset`)
  })

  await test.step('both entries are needed, by the rule and the same', async () => {
    const rule = page.getByText(/^Password must contain at least one lowercase letter/)
    const confirm = () => page.getByRole('button', { name: 'Confirm', exact: true }).click()
    await confirm()
    await expect(field('New password')).toHaveAccessibleDescription(/^Please enter your password! Password must/)
    await expect(field('Confirm password')).toHaveAccessibleDescription('Please enter your password!')
    await expect(rule).toHaveCount(1)
    await field('New password').fill('secret')
    await field('Confirm password').fill('Secret')
    await confirm()
    await expect(rule).toHaveCount(2)
    await expect(field('Confirm password')).toHaveAccessibleDescription('The two passwords are inconsistent!')
    await expect(field('New password')).toBeFocused()
    await field('New password').fill('Renewed#2026')
    await confirm()
    await expect(field('Confirm password')).toHaveAccessibleDescription('The two passwords are inconsistent!')
    await field('Confirm password').fill('Renewed#2026')
    await said(page, 'successfully', confirm)
  })

  await test.step('the login is empty, and takes only the new password', async () => {
    await expect(page).toHaveURL(`${shop.url}/login`)
    await expect(field('Username or email')).toHaveValue('')
    await expect(field('Password')).toHaveValue('')
    const logIn = () => page.locator('form').getByRole('button', { name: 'Login', exact: true }).click()
    await field('Username or email').fill(username)
    await field('Password').fill(PASSWORD)
    await logIn()
    await expect(page.locator('form').getByRole('alert')).toHaveText('The username, email or password is not correct')
    await field('Password').fill('Renewed#2026')
    await logIn()
    await expect(page).toHaveURL(`${shop.url}/product`)
  })
})

test('coins, codes and levels: too few, NO and YES, used and unused, and the highest level', async ({
  page,
  context,
  shop
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.url })
  const { username, email } = await asNewCustomer(page, shop)
  const admin = await signedIn(shop, 'admin')
  const give = async (points: object) => {
    const { data } = await call<{ data: User[] }>(admin, 'get', `/api/users/u/?search=${username}`)
    const user = data.find(one => one.username === username)
    const { id, version } = user ?? {}
    await call(admin, 'put', `/api/users/u/${id}/`, { email, is_superuser: false, version, ...points })
  }
  // An amount and codes that no other test has.
  const stamp = Date.now() % 900_000
  const mount = `${stamp + 1000}.75`
  const code = (kind: string) => `${kind}-${stamp.toString(36).toUpperCase()}`
  await call(admin, 'post', '/api/rewards/gift_card/', { mount, point: 7, code: code('CARD') })

  await test.step('there are no codes', async () => {
    await page.goto(`${shop.url}${AT}/promocodeUser`)
    await expect(page.getByRole('heading', { name: 'List of promo codes:', exact: true })).toBeVisible()
    await expect(page.getByText('No data', { exact: true })).toBeVisible()
  })

  const exchange = page.getByRole('button', { name: /^Exchange \$[\d,]+\.75$/ })
  await test.step('coins are exchanged once there are enough of them, after YES', async () => {
    await page.goto(`${shop.url}${AT}/giftcardUser`)
    await expect(page.getByText('You have 0 coins.', { exact: true })).toBeVisible()
    await said(page, 'Insufficient Coins', () => exchange.click())
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await give({ reward_points_change: 9 })
    await page.reload()
    await expect(page.getByText('You have 9 coins.', { exact: true })).toBeVisible()
    await exchange.click()
    await answer(
      page,
      'Exchange coins?',
      'NO',
      /^Exchange coins\?7 coins for a gift card of \$[\d,]+\.75\. This cannot be undone\./
    )
    await expect(page.getByText('You have 9 coins.', { exact: true })).toBeVisible()
    await exchange.click()
    await said(page, 'Exchange Success', () => answer(page, 'Exchange coins?', 'YES'))
    await expect(page.getByText('You have 2 coins.', { exact: true })).toBeVisible()
    const card = partOf(page, 'Your gift cards')
      .getByRole('listitem')
      .filter({ hasText: code('CARD') })
    for (const words of ['Gift', 'Unused']) await expect(card.getByText(words, { exact: true })).toBeVisible()
    // It was the only card of this amount.
    await expect(exchange).toHaveCount(0)
  })

  await test.step('who was invited', async () => {
    const { invite_code } = await call<User>(page.request, 'get', `${shop.url}/api/users/u/user_info/`)
    const invited = await newCustomer(shop, { invite_code })
    await page.goto(`${shop.url}${AT}/invite`)
    for (const title of ['Number', 'Username', 'Registration Time'])
      await expect(page.getByRole('columnheader', { name: title, exact: true })).toBeVisible()
    await expect(page.getByRole('cell', { name: invited.username, exact: true })).toBeVisible()
  })

  await test.step('used and unused codes', async () => {
    const form = { username, discount: '5.00', discount_type: 'amount', code_type: 1 }
    await call(admin, 'post', '/api/rewards/coupon_code/', { ...form, code: code('FREE') })
    await call(admin, 'post', '/api/rewards/coupon_code/', { ...form, code: code('USED'), is_used: true })
    await page.goto(`${shop.url}${AT}/promocodeUser`)
    const rowOf = (kind: string) => page.getByRole('listitem').filter({ hasText: code(kind) })
    for (const words of ['$5.00', 'Discount', 'Unused', code('FREE')])
      await expect(rowOf('FREE').getByText(words, { exact: true })).toBeVisible()
    await expect(rowOf('FREE').getByRole('link', { name: 'Use Now', exact: true })).toHaveAttribute('href', '/product')
    for (const words of ['Discount', 'Used', 'Use Now'])
      await expect(rowOf('USED').getByText(words, { exact: true })).toBeVisible()
    await expect(rowOf('USED').getByRole('link')).toHaveCount(0)
    await expect(rowOf('CARD').getByText('Gift', { exact: true })).toBeVisible()
    const copy = rowOf('FREE').getByRole('button', { name: `Copy: ${code('FREE')}` })
    await said(page, 'Code copied to clipboard!', () => copy.click())
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(code('FREE'))
    await page.evaluate(`
      navigator.clipboard.writeText = () => Promise.reject(new DOMException('no'))
      document.execCommand = () => false`)
    await said(page, 'Failed to copy to clipboard', () => rowOf('USED').getByRole('button', { name: /^Copy/ }).click())
  })

  await test.step('levels: none, one, and the highest', async () => {
    const { data: levels } = await call<{ data: { point: number }[] }>(
      admin,
      'get',
      '/api/rewards/level_code/?limit=10'
    )
    const [first = 0, ...others] = levels.map(({ point }) => point).toSorted((a, b) => a - b)
    const highest = others.at(-1) ?? 0
    const level = partOf(page, 'Level')
    const number = new Intl.NumberFormat('en-US')
    await page.goto(`${shop.url}${AT}/rewards`)
    await expect(level.getByText(`${number.format(first)} more points to Member`, { exact: true })).toBeVisible()
    await give({ level_points_change: first })
    await page.reload()
    await expect(level.getByRole('heading', { name: 'Member' })).toBeVisible()
    await expect(level.getByText(/ more points to Silver$/)).toBeVisible()
    await give({ level_points_change: highest - first })
    await page.reload()
    await expect(level.getByText('You are already at the highest level!', { exact: true })).toBeVisible()
    await expect(level.getByRole('heading')).toContainText('SSSSSVIP')
    await expect(level.getByRole('listitem').and(page.locator('[data-reached="true"]'))).toHaveCount(5)
    const activity = page.getByRole('region', { name: 'Recent point activity' })
    await expect(activity.getByRole('row')).toHaveCount(5)
  })
  await admin.dispose()
})

test('what was typed stays where a session only ended, and goes from every tab with a log-out', async ({
  page,
  shop
}) => {
  const customer = await asNewCustomer(page, shop)
  const nameOfKey = (tab: Page) => partOf(tab, 'API keys').getByRole('textbox', { name: 'Name', exact: true })
  const drafts = (tab: Page) =>
    tab.evaluate(() => Object.keys(sessionStorage).filter(key => key.startsWith('netlet-draft-')))
  const other = await page.context().newPage()
  for (const [tab, name] of [
    [page, 'Crawler'],
    [other, 'Mirror']
  ] as const) {
    await tab.goto(`${shop.url}${AT}/setting`)
    await nameOfKey(tab).fill(name)
  }

  await test.step('the session ends unasked: the same person finds it again', async () => {
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Invite' }).first().click()
    await page.getByRole('textbox', { name: /username/i }).fill(customer.username)
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    // Another page in its place would break a login off that is under way.
    const answered = page.waitForResponse(reply => reply.url().endsWith('/api/auth/login'))
    await page.getByRole('button', { name: 'Login', exact: true }).click()
    expect((await answered).ok()).toBe(true)
    await expect(page).toHaveURL(`${shop.url}${AT}/invite`)
    await page.goto(`${shop.url}${AT}/setting`)
    await expect(nameOfKey(page)).toHaveValue('Crawler')
    await other.goto(`${shop.url}${AT}/setting`)
    await expect(nameOfKey(other)).toHaveValue('Mirror')
  })

  await test.step('its user logs out', async () => {
    await page.getByRole('button', { name: customer.username }).click()
    await page.getByRole('button', { name: 'Logout' }).click()
    await expect(page).toHaveURL(`${shop.url}/login`)
    await expect.poll(() => drafts(page)).toEqual([])
    await expect.poll(() => drafts(other)).toEqual([])
  })
})

test('settings: another e-mail address, a session that is ended, own data, and the account deleted', async ({
  page,
  shop
}) => {
  const customer = await asNewCustomer(page, shop)
  const elsewhereToo = await signedIn(shop, customer)
  await page.goto(`${shop.url}${AT}/setting`)
  const PASSWORD_AGAIN = 'Your password, once more'

  await test.step('the e-mail address, with a code to the new one', async () => {
    const part = partOf(page, 'Account information')
    const field = (name: string) => part.getByRole('textbox', { name, exact: true })
    const email = `new-${customer.email}`
    await part.getByRole('button', { name: 'Change email address' }).click()
    await part.getByRole('button', { name: 'Send a code to it' }).click()
    await expect(field('New email address')).toHaveAccessibleDescription('Please enter your email address!')
    await field('New email address').fill(email)
    await field(PASSWORD_AGAIN).fill(PASSWORD)
    await said(page, 'Sending succeeded', () => part.getByRole('button', { name: 'Send a code to it' }).click())
    await part.getByRole('button', { name: 'Change email address' }).click()
    await expect(field('Code from the mail')).toHaveAccessibleDescription('Please input code')
    await field('Code from the mail').fill(await codeTo(shop, email))
    await said(page, 'Your email address was changed', () =>
      part.getByRole('button', { name: 'Change email address' }).click()
    )
    await expect(part.getByRole('definition').filter({ hasText: email })).toBeVisible()
  })

  await test.step('a session elsewhere ends for the password', async () => {
    const part = partOf(page, 'Where you are logged in')
    await expect(part.getByText('This browser', { exact: true })).toBeVisible()
    const sessions = part.getByRole('listitem')
    const before = await sessions.count()
    expect(before).toBeGreaterThanOrEqual(2)
    expect((await elsewhereToo.get('/api/auth/login')).status()).toBe(200)
    const other = sessions.filter({ has: page.getByRole('button') })
    for (let left = before; left > 1; left--) {
      await other
        .first()
        .getByRole('button', { name: /^Log out/ })
        .click()
      await part.getByRole('textbox', { name: PASSWORD_AGAIN }).fill(PASSWORD)
      await part.getByRole('button', { name: 'Log out', exact: true }).click()
      await expect(sessions).toHaveCount(left - 1)
    }
    expect((await elsewhereToo.get('/api/auth/login')).status()).toBe(401)
    await expect(part.getByText('This browser', { exact: true })).toBeVisible()
  })

  await test.step('own data comes as a file', async () => {
    const part = partOf(page, 'Your data')
    const download = page.waitForEvent('download')
    await part.getByRole('link', { name: 'Download my data' }).click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/\.json$/)
    expect(await readFile(await file.path(), 'utf8')).toContain(`new-${customer.email}`)
  })

  await test.step('the account is deleted for the password, and takes no login any more', async () => {
    const part = partOf(page, 'Your data')
    const remove = part.getByRole('button', { name: 'Delete my account' })
    await remove.click()
    await part.getByRole('button', { name: 'Cancel' }).click()
    await remove.click()
    await part.getByRole('textbox', { name: PASSWORD_AGAIN }).fill(PASSWORD)
    await said(page, 'Your account was deleted', () => remove.click())
    await expect(page).toHaveURL(`${shop.url}/`)
    await expect(page.getByRole('banner').getByRole('link', { name: 'Login' }).first()).toBeVisible()
    const reply = await page.request.post(`${shop.url}/api/auth/login`, { data: customer })
    expect(await reply.json()).not.toMatchObject({ code: 2000 })
  })
  await elsewhereToo.dispose()
})

test('API keys and webhooks: made once, shown once, tried, and taken back after YES', async ({ page, shop }) => {
  await asNewCustomer(page, shop)
  await page.goto(`${shop.url}${AT}/setting`)

  await test.step('an API key reads what its scope allows, until it is revoked', async () => {
    const part = partOf(page, 'API keys')
    await expect(part.getByText('You have no API keys yet.', { exact: true })).toBeVisible()
    await part.getByRole('textbox', { name: 'Name', exact: true }).fill('Crawler')
    await part.getByRole('textbox', { name: /^Your password/ }).fill(PASSWORD)
    await part.getByRole('button', { name: 'Create key' }).click()
    await expect(part.getByText('Copy the key now. It is shown only this once.', { exact: true })).toBeVisible()
    const key = await part.getByRole('status').locator('code').innerText()
    await part.getByRole('button', { name: 'Done' }).click()
    await expect(page.getByText(key, { exact: true })).toHaveCount(0)
    const read = async () => {
      const reply = await fetch(`${shop.url}/api/orders/order_list/`, { headers: { authorization: `Bearer ${key}` } })
      return reply.status
    }
    expect(await read()).toBe(200)
    const row = part.getByRole('list', { name: 'Your API keys' }).getByRole('listitem').filter({ hasText: 'Crawler' })
    await expect(row.getByText('Read orders and proxies', { exact: true })).toBeVisible()
    const revoke = row.getByRole('button', { name: 'Revoke: Crawler' })
    await revoke.click()
    await answer(page, 'Revoke the key Crawler?', 'NO', 'Scripts that use it are refused from then on.')
    expect(await read()).toBe(200)
    await revoke.click()
    await answer(page, 'Revoke the key Crawler?', 'YES')
    await expect(part.getByText('You have no API keys yet.', { exact: true })).toBeVisible()
    expect(await read()).toBe(401)
  })

  await test.step('a webhook endpoint is added, tested, given a new secret, and deleted', async () => {
    const part = partOf(page, 'Webhooks')
    await part.getByRole('button', { name: 'Add endpoint' }).click()
    const form = page.getByRole('dialog', { name: 'Add endpoint' })
    const address = form.getByRole('textbox', { name: 'Address' })
    const save = () => form.getByRole('button', { name: 'Save' }).click()
    await save()
    await expect(form.getByText('Must be a web address, such as https://example.com', { exact: true })).toBeVisible()
    await address.fill('http://hooks.example.com/netlet')
    await save()
    await expect(form.getByText('Enter an address that starts with https://', { exact: true })).toBeVisible()
    await address.fill('https://hooks.example.com/netlet')
    await form.getByRole('textbox', { name: 'Name' }).fill('CI')
    expect(await violations(page)).toEqual([])
    await save()
    await expect(part.getByText('Copy the secret now. It is shown only this once.', { exact: true })).toBeVisible()
    const secret = part.getByRole('status').locator('code')
    await expect(secret).toHaveText(/^whsec_/)
    const former = await secret.innerText()
    await part.getByRole('button', { name: 'Done' }).click()
    await expect(secret).toHaveCount(0)

    await said(page, 'A test event is on its way', () => part.getByRole('button', { name: 'Test: CI' }).click())
    const log = page.getByRole('dialog', { name: 'Log of CI' })
    await expect(log.getByRole('row')).toHaveCount(2)
    await log.getByRole('button', { name: 'Close' }).click()

    await part.getByRole('button', { name: 'New secret: CI' }).click()
    await answer(page, 'Make a new secret?', 'YES', 'Both secrets sign for a day')
    await expect(secret).toHaveText(/^whsec_/)
    expect(await secret.innerText()).not.toBe(former)
    await part.getByRole('button', { name: 'Done' }).click()
    const remove = part.getByRole('button', { name: 'Delete: CI' })
    await remove.click()
    await answer(page, 'Delete this endpoint?', 'NO', 'https://hooks.example.com/netlet')
    await expect(remove).toBeVisible()
    await remove.click()
    await answer(page, 'Delete this endpoint?', 'YES')
    await expect(part.getByText('There are no endpoints yet.', { exact: true })).toBeVisible()
  })
})
