import type { CDPSession, Page } from '@playwright/test'
import { violations } from './axe.ts'
import { mailTo, signUp } from './shopper.ts'
import { expect, test } from './shop.ts'
import { generateSync } from 'otplib'

const PASSWORD = 'Harbour#2026'

/** A device with passkeys, which agrees to everything. */
async function addAuthenticator(page: Page): Promise<{ cdp: CDPSession; authenticatorId: string }> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
  return { cdp, authenticatorId }
}

test('a customer adds a passkey and an app, and logs in with each', async ({ page, shop: running }) => {
  // Browsers allow no passkeys for addresses of numbers.
  const shop = { ...running, url: running.url.replace('127.0.0.1', 'localhost') }
  const settings = `${shop.url}/dashboard/index/setting`
  const security = page.getByRole('region', { name: 'Login and security' })
  const dialog = page.getByRole('dialog')
  const accessible = async (what: string) => expect.soft(await violations(page), what).toEqual([])
  const logOut = async () => {
    await page.getByRole('banner').getByRole('button', { name: 'factor1' }).click()
    await page.getByRole('banner').getByRole('button', { name: 'Logout' }).click()
    await expect(page.getByRole('heading', { name: 'Login' })).toBeVisible()
  }
  const enterPassword = async () => {
    await page.getByRole('textbox', { name: 'Username or email' }).fill('factor1')
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD)
    await page.locator('main form').getByRole('button', { name: 'Login' }).click()
    await expect(page.getByRole('heading', { name: 'Two-factor authentication' })).toBeVisible()
  }
  const { cdp, authenticatorId } = await addAuthenticator(page)
  await page.goto(`${shop.url}/createAccount`)
  await signUp(page, shop, 'factor1')

  await test.step('adds a passkey, and keeps the recovery codes', async () => {
    await page.goto(settings)
    await security.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog.getByRole('textbox', { name: 'Enter your password again' }).fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Laptop')
    await accessible('a new passkey')
    await dialog.getByRole('button', { name: 'Create passkey' }).click()
    await expect(dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')).toHaveCount(10)
    await accessible('recovery codes')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await expect(security.getByRole('listitem')).toContainText('Laptop')
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }])
    await mailTo(shop, 'factor1@example.com', /A second factor was added/)
  })

  await test.step('logs in with the passkey alone, and as the second step', async () => {
    await logOut()
    await page.getByRole('button', { name: 'Log in with a passkey' }).click()
    await expect(page).toHaveURL(`${shop.url}/product`)
    await logOut()
    await enterPassword()
    await accessible('the second step')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await expect(page).toHaveURL(`${shop.url}/product`)
  })

  let secret = ''
  await test.step('adds an app, confirmed by the passkey', async () => {
    await page.goto(settings)
    await security.getByRole('button', { name: 'Add an authenticator app' }).click()
    await dialog.getByRole('button', { name: 'Use a passkey' }).click()
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await expect(dialog.getByRole('img', { name: 'QR code for the authenticator app' })).toBeVisible()
    secret = (await dialog.locator('code').innerText()).replaceAll(' ', '')
    await accessible('a new app')
    await dialog.getByRole('textbox', { name: 'Code from the app' }).fill(generateSync({ secret }))
    await dialog.getByRole('button', { name: 'Add an authenticator app' }).click()
    await expect(dialog).toBeHidden()
    await expect(security.getByRole('listitem')).toHaveCount(2)
  })

  await test.step('logs in with the app', async () => {
    await logOut()
    await enterPassword()
    // The code that confirmed the app counts once, so this one is of the next 30 seconds, as a fast clock shows it.
    const code = generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + 30 })
    await page.getByRole('textbox', { name: 'Code from your authenticator app' }).fill(code)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await expect(page).toHaveURL(`${shop.url}/product`)
  })
})
