import type { Page } from '@playwright/test'
import { asAdmin } from './console.ts'
import { expect, test } from './shop.ts'
import { forgetFailures, mailTo } from './shopper.ts'

/** What is said of a field, as a screen reader tells it. */
const says = (page: Page, field: string | RegExp, sentence: string) =>
  expect(page.getByRole('textbox', { name: field, exact: true })).toHaveAccessibleDescription(
    new RegExp(escaped(sentence))
  )
const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

// The rules of forms that only the browser can judge; all others are proved where the server enforces them.

test('Landing Confirm: at least one tag', async ({ page, shop }) => {
  await page.goto(shop.url)
  // The words of the page are there before the code that answers clicks.
  await expect(page.getByRole('row').filter({ hasText: 'Metro ISP' })).toBeVisible()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await expect(page.getByText('Please select a product', { exact: true })).toBeVisible()
})

test('Q&A search: text required', async ({ page, shop }) => {
  await page.goto(`${shop.url}/support`)
  await page.getByRole('button', { name: 'Search' }).click()
  await expect(page.getByText('Please enter a question', { exact: true })).toBeVisible()
})

test('Sign-up submit: every field but the invite code', async ({ page, shop }) => {
  await page.goto(`${shop.url}/createAccount`)
  await expect(page.getByRole('heading', { name: 'Log in!' })).toBeVisible()
  await page.getByRole('button', { name: 'sign up', exact: true }).click()
  await expect(page.getByText('Please complete the form first!', { exact: true })).toBeVisible()
  const wanted = {
    Username: 'Please input username',
    Email: 'Please input email',
    'Verification code': 'Please input code',
    Password: 'Enter a password'
  }
  for (const [field, sentence] of Object.entries(wanted)) await says(page, field, sentence)
  await expect(page.getByRole('textbox', { name: 'Username' })).toBeFocused()
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('Secret#2026')
  await page.getByRole('textbox', { name: /confirm/i }).fill('Other#2026')
  await page.getByRole('button', { name: 'sign up', exact: true }).click()
  await says(page, /confirm/i, 'Password not consistent')
  await says(page, 'Username', 'Please input username')
  // It stays.
  await page.waitForTimeout(3500)
  await says(page, 'Username', 'Please input username')
})

test('Sign-up: a wrong code and an unknown invite code at their fields, and nothing but passwords lost by a reload', async ({
  page,
  shop
}) => {
  const fill = (name: string, text: string) => page.getByRole('textbox', { name, exact: true }).fill(text)
  const passwords = async () => {
    await fill('Password', 'Secret#2026')
    await page.getByRole('textbox', { name: /confirm/i }).fill('Secret#2026')
  }
  const submit = () => page.getByRole('button', { name: 'sign up', exact: true }).click()
  await page.goto(`${shop.url}/createAccount`)
  await page.getByRole('button', { name: 'send code' }).click()
  await says(page, 'Email', 'Please enter your email address!')
  await fill('Username', 'Reloader')
  await fill('Email', 'reloader@example.com')
  await page.getByRole('button', { name: 'send code' }).click()
  await expect(page.getByRole('button', { name: /^\d+ s/ })).toBeVisible()
  await fill('Verification code', '000000')
  await passwords()
  await submit()
  await says(page, 'Verification code', 'The verification code is not correct or has expired')
  // Another one can be asked for, and comes too soon.
  await page.getByRole('button', { name: 'send code' }).click()
  await says(page, 'Verification code', 'A code was sent a moment ago. Please wait a minute before asking for another.')

  const { text } = await mailTo({ platform: { url: shop.platformUrl } }, 'reloader@example.com', /code/)
  await fill('Verification code', /\d{6}/.exec(text)?.[0] ?? '')
  await page.reload()
  await expect(page.getByRole('textbox', { name: 'Username' })).toHaveValue('Reloader')
  await expect(page.getByRole('textbox', { name: 'Email', exact: true })).toHaveValue('reloader@example.com')
  await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toHaveValue('')
  await page.getByRole('textbox', { name: /invite/i }).fill('nobodys')
  await passwords()
  await submit()
  await says(page, /invite/i, 'This invite code does not exist')
  await page.getByRole('textbox', { name: /invite/i }).fill('')
  await submit()
  await expect(page).toHaveURL(`${shop.url}/product`)
})

test('Login: one sentence that stays, and after three failures the captcha at its field', async ({ page, shop }) => {
  // Logins that failed in other walks count for the same address.
  await forgetFailures(shop)
  await page.goto(`${shop.url}/login`)
  await page.getByRole('button', { name: 'Login', exact: true }).click()
  await says(page, 'Username or email', 'Please enter your username or email!')
  await says(page, 'Password', 'Please enter your password!')
  await page.getByRole('textbox', { name: 'Username or email' }).fill('nobody77')
  await page.getByRole('textbox', { name: 'Password' }).fill('Wrong#2026')
  const alert = page.locator('form').getByRole('alert')
  const answered = () => page.waitForResponse(reply => reply.url().endsWith('/api/auth/login'))
  for (let i = 0; i < 3; i += 1) {
    const reply = answered()
    await page.getByRole('button', { name: 'Login', exact: true }).click()
    await reply
    await expect(alert).toHaveText('The username, email or password is not correct')
  }
  const captcha = page.getByRole('textbox', { name: 'Result of the calculation' })
  await expect(captcha).toBeFocused()
  await page.getByRole('button', { name: 'Login', exact: true }).click()
  await says(page, 'Result of the calculation', 'Please enter the captcha code!')
  await captcha.fill('999')
  await page.getByRole('button', { name: 'Login', exact: true }).click()
  await says(page, 'Result of the calculation', 'The captcha code is not correct')
  await page.getByRole('tab', { name: 'Discord' }).click()
  await page.getByRole('tab', { name: 'Password' }).click()
  await expect(page.getByRole('textbox', { name: 'Username or email' })).toHaveValue('nobody77')
  await forgetFailures(shop)
})

test('Forgot: an address of its own, and what is missing at each field', async ({ page, shop }) => {
  await page.goto(`${shop.url}/login`)
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  await expect(page).toHaveURL(`${shop.url}/forgot`)
  await page.getByRole('button', { name: 'Next' }).click()
  await expect(page.locator('form').getByRole('alert')).toHaveText('Please enter your email or code!')
  await says(page, 'Email', 'Please enter your email address!')
  await page.goBack()
  await expect(page).toHaveURL(`${shop.url}/login`)
  await page.goForward()
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Reset your password' })).toBeVisible()
})

test('Ticket: the form first, then the captcha at its field', async ({ page, shop }) => {
  await page.goto(`${shop.url}/support`)
  await page.getByRole('button', { name: 'Submit' }).click()
  await expect(page.getByText('Please fill out the form first!', { exact: true })).toBeVisible()
  await says(page, 'Result of the calculation', 'Please input the calculation results in the picture first!')
  await page.getByRole('textbox', { name: 'Name' }).fill('Anna')
  await page.getByRole('textbox', { name: 'Email' }).fill('anna')
  await page.getByRole('textbox', { name: 'Phone' }).fill('1')
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello')
  await page.getByRole('textbox', { name: 'Result of the calculation' }).fill('999')
  await page.getByRole('button', { name: 'Submit' }).click()
  await says(page, 'Email', 'Please input correct email format')
  await page.getByRole('textbox', { name: 'Email' }).fill('anna@example.com')
  await page.getByRole('button', { name: 'Submit' }).click()
  await says(page, 'Result of the calculation', 'The captcha code is not correct')
})

test('Changed settings: a link of the menu and Back ask, and staying keeps what was typed', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/tickets`)
  await page.getByRole('link', { name: 'Web Settings' }).click()
  const field = page.getByLabel('Client id')
  await field.fill('typed')
  const question = page.getByRole('dialog', { name: 'Discard the changes?' })
  const stay = async () => {
    await question.getByRole('button', { name: 'NO' }).click()
    await expect(question).toBeHidden()
    await expect(page).toHaveURL(/WebsiteSettings/)
    await expect(field).toHaveValue('typed')
  }
  await page.getByRole('link', { name: 'Tickets' }).click()
  await stay()
  await page.goBack()
  await stay()
  await page.goBack()
  await question.getByRole('button', { name: 'YES' }).click()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/tickets`)
})

test('A changed form beside a list: Back asks, and leads out of it after YES', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/QA`)
  // So slow that Back comes while the change of the address is not drawn yet.
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 6 })
  await page
    .getByRole('button', { name: /^Edit: / })
    .first()
    .click()
  const field = page.getByRole('textbox', { name: 'Question', exact: true })
  await field.fill('typed')
  const question = page.getByRole('dialog', { name: 'Discard the changes?' })
  await page.goBack()
  await question.getByRole('button', { name: 'NO' }).click()
  await expect(question).toBeHidden()
  await expect(page).toHaveURL(/form=edit/)
  await expect(field).toHaveValue('typed')
  await page.goBack()
  await question.getByRole('button', { name: 'YES' }).click()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/QA`)
  await expect(field).toBeHidden()
})
