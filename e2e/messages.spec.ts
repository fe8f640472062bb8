import type { Locator, Page, Route } from '@playwright/test'
import { asAdmin, asCustomer, buy, said } from './console.ts'
import { expect, test } from './shop.ts'
import { codeTo, elsewhere, forgetFailures, PASSWORD } from './shopper.ts'

// Each message of the shop and of the customer's dashboard in its exact words, where it is seen.

const PROXIES = '/dashboard/index/proxies'
const RULE =
  'Password must contain at least one lowercase letter, one uppercase letter, one number, one special character and length should be 8 to 20'

const fieldOf = (within: Page | Locator, name: string | RegExp) => within.getByRole('textbox', { name, exact: true })

/** The field is marked as wrong, and exactly this is said of it, beside what it is described by anyway. */
async function refuses(field: Locator, sentence: string, hint = ''): Promise<void> {
  await expect(field).toHaveAccessibleDescription([sentence, hint].join(' ').trim())
  await expect(field).toHaveAttribute('aria-invalid', 'true')
}

type Answer = { status?: number; json?: object; text?: string } | 'lost'

/** Has a call answered as only a shop does that is broken, while `act` goes on. */
async function broken(page: Page, path: RegExp, answer: Answer, act: () => Promise<unknown>): Promise<void> {
  const handler = (route: Route) =>
    answer === 'lost'
      ? route.abort('connectionreset')
      : route.fulfill({
          status: answer.status ?? 200,
          contentType: 'application/json',
          body: answer.text ?? JSON.stringify(answer.json)
        })
  await page.route(path, handler)
  await act()
  await page.unroute(path, handler)
}

/** A refusal for which the shop has no words. */
const wordless = (status: number): Answer => ({ status, json: { code: status, msg: '', data: null } })
const data = (value: unknown): Answer => ({ json: { code: 2000, msg: 'success', data: value } })

test('sign-up says at each field what its rule is, that the code was sent, and that the account is there', async ({
  page,
  shop
}) => {
  await page.setExtraHTTPHeaders(elsewhere())
  await page.goto(`${shop.url}/createAccount`)
  await expect(page.getByRole('heading', { name: 'Log in!' })).toBeVisible()
  const password = 'Password'
  const again = 'Confirm password'
  const rules: [field: string, entry: string, sentence: string][] = [
    ['Username', '', 'Please input username'],
    ['Username', 'abc', 'Length should be 4 to 10'],
    ['Username', 'abcdefghijk', 'Length should be 4 to 10'],
    ['Username', 'ab cd', 'Can only contain letters and numbers'],
    ['Username', 'müller', 'Can only contain letters and numbers'],
    ['Email', '', 'Please input email'],
    ['Email', 'anna@', 'Please input correct email format'],
    ['Verification code', '', 'Please input code'],
    [password, '', 'Enter a password'],
    [password, 'Secret#', RULE],
    [password, 'secret#2026', RULE],
    [password, 'SECRET#2026', RULE],
    [password, 'Secret#Secret', RULE],
    [password, 'Secret2026', RULE],
    [password, 'Secret#2026Secret#2026', RULE],
    [again, '', 'Please input re-password']
  ]
  for (const [name, entry, sentence] of rules) {
    const field = fieldOf(page, name)
    await field.fill(entry)
    await field.focus()
    await field.blur()
    await refuses(field, sentence, name === password ? RULE : '')
  }
  const username = `s${Date.now().toString(36).slice(-7)}`
  const email = `${username}@example.com`
  await fieldOf(page, 'Username').fill(username)
  await fieldOf(page, 'Email').fill(email)
  await fieldOf(page, password).fill(PASSWORD)
  await fieldOf(page, again).fill('Other#2026')
  await said(page, 'Sending succeeded', () => page.getByRole('button', { name: 'send code' }).click())
  await fieldOf(page, 'Verification code').fill(await codeTo(shop, email))
  await page.getByRole('button', { name: 'sign up', exact: true }).click()
  await refuses(fieldOf(page, again), 'Password not consistent')
  await fieldOf(page, again).fill(PASSWORD)
  await said(page, 'Created successfully', () => page.getByRole('button', { name: 'sign up', exact: true }).click())
  await expect(page).toHaveURL(`${shop.url}/product`)
})

test('the way to the chat, the login with it that cannot be had, and what an administrator who buys is told', async ({
  page,
  shop
}) => {
  await page.goto(`${shop.url}/support`)
  await expect(page.getByRole('link', { name: 'Join the chat', exact: true })).toHaveAttribute(
    'href',
    `${shop.platformUrl}/chat`
  )

  await page.goto(`${shop.url}/login`)
  await page.getByRole('tab', { name: 'Discord' }).click()
  const alert = page.getByRole('tabpanel', { name: 'Discord' }).getByRole('alert')
  for (const answer of [data({ discord_auth_url: '' }), wordless(500)])
    await broken(page, /\/api\/auth\/discord\/login/, answer, async () => {
      await page.getByRole('button', { name: 'Continue with Discord' }).click()
      await expect(alert).toHaveText('Unable to obtain third-party login path!')
      await expect(alert).toBeFocused()
    })

  await asAdmin(page, shop)
  await page.goto(`${shop.url}/product`)
  await page.getByRole('link', { name: /Metro ISP/ }).click()
  await page.getByRole('button', { name: 'Purchase' }).click()
  const rules = page.getByRole('dialog', { name: 'Access rules' })
  await rules.getByRole('button', { name: 'Confirm' }).click()
  await expect(rules.getByText('Please select', { exact: true })).toBeVisible()
  await rules.getByRole('checkbox', { name: /Netflix/ }).check()
  await rules.getByRole('button', { name: 'Confirm' }).click()
  await expect(rules).toBeHidden()
  await page.getByRole('button', { name: 'Purchase' }).click()
  await expect(page.getByRole('alert')).toHaveText(
    'Admin accounts cannot make purchases. Please use a regular account.'
  )
})

test('settings: what the change of the password and the chat account need, and a logout that fails', async ({
  page,
  shop
}) => {
  await asCustomer(page, shop)
  await page.goto(`${shop.url}/dashboard/index/setting`)
  const part = page.getByRole('region', { name: 'Change password' })
  const before = fieldOf(part, 'Old password')
  const after = fieldOf(part, 'New password')
  const change = () => part.getByRole('button', { name: 'Change password' }).click()
  await change()
  await refuses(before, 'Please Enter Old Password')
  await refuses(after, 'Please Enter New Password', RULE)
  await expect(before).toBeFocused()
  await after.fill('weak')
  await change()
  await refuses(after, RULE, RULE)
  await before.fill('Wrong#2026')
  await after.fill('Another#2026')
  await change()
  await refuses(before, 'The old password is not correct')
  await forgetFailures(shop)

  const chat = page.getByRole('region', { name: 'Discord account' })
  await chat.getByRole('button', { name: /^Connect/ }).click()
  await broken(page, /\/api\/auth\/discord\/bind/, data({ discord_auth_url: '' }), async () => {
    await fieldOf(chat, 'Your password, once more').fill(shop.customer.password)
    await said(page, 'Unable to obtain third-party login path!', () =>
      chat.getByRole('button', { name: 'Continue to Discord' }).click()
    )
  })

  await broken(page, /\/api\/auth\/logout/, wordless(500), async () => {
    await page.getByRole('button', { name: shop.customer.username }).click()
    await said(page, 'Logout failed', () => page.getByRole('button', { name: 'Logout' }).click())
  })
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/setting`)
  await expect(part).toBeVisible()
})

test('proxies: what is said where orders, proxies, copies, files and renewals cannot be had', async ({
  page,
  context,
  shop
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.url })
  await asCustomer(page, shop)
  const order = await buy(shop)
  const address = `${shop.url}${PROXIES}?order=${order.id}`
  const proxies = page.getByRole('region', { name: 'Proxies' })
  const press = (name: string) => proxies.getByRole('button', { name, exact: true }).click()
  const list = /\/api\/orders\/order_list\/\?/
  const detail = new RegExp(`/order_list/${order.id}/get_proxy_detail/`)
  const copy = new RegExp(`/order_list/${order.id}/copy_proxies`)
  const file = new RegExp(`/order_list/${order.id}/export_proxies`)

  await test.step('on the page itself', async () => {
    await broken(page, list, wordless(500), async () => {
      await page.goto(address)
      await expect(page.locator('main').getByRole('alert')).toHaveText('Failed to load order detailsTry again')
    })
    const shown: [Answer, sentence: string][] = [
      [wordless(500), 'Failed to load proxy details'],
      [data({ proxy_list: 'none', total: 0, order: null }), 'Failed to load proxy data: Invalid response format']
    ]
    for (const [answer, sentence] of shown)
      await broken(page, detail, answer, async () => {
        await page.goto(address)
        await expect(proxies.getByRole('alert')).toHaveText(`${sentence}Try again`)
      })
    await broken(page, detail, data({ proxy_list: [], total: 0, order }), async () => {
      await page.goto(address)
      await expect(proxies.getByText('No proxy data found', { exact: true })).toBeVisible()
    })
    // The same page, once the shop is well again.
    await page.reload()
    await expect(proxies.getByRole('row')).toHaveCount(9)
  })

  await test.step('in messages', async () => {
    const MALFORMED = 'Invalid response format from server'
    const none = data({ proxy_lines: [], filename: 'x.txt' })
    const messages: [button: string, path: RegExp, answer: Answer, sentence: string][] = [
      ['Copy', copy, wordless(500), 'Copy failed'],
      ['Copy', copy, none, 'No proxy data found'],
      ['Copy', copy, data({}), MALFORMED],
      ['Export', file, none, 'No proxy data found'],
      ['Export', file, data({}), MALFORMED],
      ['Export', file, { text: '<html>' }, MALFORMED],
      ['Export', file, wordless(403), 'Forbidden: No permission to access this order'],
      ['Export', file, wordless(404), 'Order not found or no proxy data'],
      ['Export', file, wordless(500), 'Server error: Please try again later'],
      ['Export', file, wordless(503), 'Failed to get proxy data (503)'],
      ['Export', file, 'lost', 'Failed to get proxy data'],
      ['Check', /\/check_proxy/, { status: 503, text: '<html>' }, 'The check could not be started'],
      ['Renew', /\/order-renew-checkout\//, { status: 503, text: '<html>' }, 'Failed to create order']
    ]
    for (const [button, path, answer, sentence] of messages)
      await test.step(`${button}: ${sentence}`, () =>
        broken(page, path, answer, async () => {
          await said(page, sentence, () => press(button))
        }))
    await broken(page, /\/check_proxy/, wordless(500), async () => {
      await press('Check')
      // A refusal is about this order, and stays to be read.
      await expect(proxies.getByRole('alert')).toHaveText('The check could not be started')
    })
    // The words of the shop, where it has any.
    const words = { status: 409, json: { code: 409, msg: 'Other words', data: null } }
    await broken(page, file, words, async () => {
      await said(page, 'Other words', () => press('Export'))
    })
  })

  await test.step('where the browser lets nothing out', async () => {
    await page.evaluate(`
      navigator.clipboard.writeText = () => Promise.reject(new DOMException('no'))
      document.execCommand = () => false
      URL.createObjectURL = () => { throw new Error() }`)
    await said(page, 'Failed to copy to clipboard', () => press('Copy'))
    await said(page, 'Export failed', () => press('Export'))
  })

  await test.step('without an order', async () => {
    await page.goto(`${shop.url}${PROXIES}?order=999999`)
    await expect(proxies.getByText('No order selected', { exact: true })).toBeVisible()
    for (const button of ['Renew', 'Check', 'Copy', 'Export']) {
      await said(page, 'Please select an order first', () => press(button))
    }
  })

  await test.step('once nobody is signed in', async () => {
    await page.goto(address)
    await expect(proxies.getByRole('row')).toHaveCount(9)
    await broken(page, file, wordless(401), async () => {
      await said(page, 'Unauthorized: Please login again', () => press('Export'))
    })
  })
})
