import { expect, type Locator, type Page } from '@playwright/test'
import type { EmptyShop } from './first-start.ts'
import type { Machine } from './machines.ts'

/** Values that an operator copies into the console from the stand-in's product of access rules. */
export const RULE = { name: 'Steam', price: '0.10', variant: '72000000001008', domain: 'steampowered.com' }

export async function logIn(page: Page, url: string, { username, password }: EmptyShop['admin']): Promise<void> {
  await page.goto(url)
  await page.getByRole('banner').getByRole('link', { name: 'Login' }).click()
  await page.getByRole('textbox', { name: 'Username or email' }).fill(username)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Login', exact: true }).click()
  await expect(page).toHaveURL(`${url}/product`)
}

/** Opens an entry of the console's menu. */
export async function openScreen(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name, exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
}

/** Opens a step of the home screen's set-up list. */
export async function takeStep(page: Page, name: string): Promise<void> {
  await openScreen(page, 'Home')
  const steps = page.getByRole('region', { name: 'Set up the shop' })
  await steps.getByText(name, { exact: true }).click()
}

async function enterSecret(page: Page, name: string, value: string): Promise<void> {
  await page.getByRole('button', { name: `Enter: ${name}` }).click()
  await page.getByRole('textbox', { name }).fill(value)
}

async function saveSettings(page: Page): Promise<void> {
  const saved = page.waitForResponse(
    reply => reply.request().method() === 'POST' && reply.url().endsWith('/api/settings/config')
  )
  await page.getByRole('button', { name: 'Save' }).click()
  expect((await saved).ok()).toBe(true)
}

export async function connectPlatform(page: Page, { platformUrl, platform }: EmptyShop): Promise<void> {
  await takeStep(page, 'Connect the platform')
  await page.getByRole('textbox', { name: 'Shop domain' }).fill(platformUrl)
  await enterSecret(page, 'API secret', platform.secret)
  await enterSecret(page, 'Admin API access token', platform.token)
  // The stand-in's checkout charges nothing.
  await page.getByRole('checkbox', { name: 'Deliver test payments' }).check()
  await saveSettings(page)
  await expect(page.getByRole('button', { name: 'Replace: API secret' })).toBeVisible()
  await page.getByRole('button', { name: 'Test: Platform' }).click()
  await expect(page.getByText(/^Netlet stand-in accepts .* Its currency is USD\./)).toBeVisible()
}

export async function connectMail(page: Page): Promise<void> {
  await takeStep(page, 'Set up the email service')
  await enterSecret(page, 'SendGrid API key', 'key-of-the-stand-in')
  await saveSettings(page)
  await page.getByRole('button', { name: 'Test: Email me' }).click()
  await expect(page.getByText('The email service accepted an email to owner@example.com.')).toBeVisible()
}

/** Synchronises product types or tags from the platform. */
export async function synchronise(page: Page, screen: string, sees: string): Promise<void> {
  await openScreen(page, screen)
  await page.getByRole('button', { name: 'Sync' }).click()
  const plan = page.getByRole('dialog')
  await expect(plan).toContainText(sees)
  await plan.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('cell', { name: sees, exact: true })).toBeVisible()
}

export async function addRule(page: Page): Promise<void> {
  await takeStep(page, 'Add an access rule')
  await page.getByRole('textbox', { name: 'Name' }).fill(RULE.name)
  await page.getByRole('textbox', { name: 'Price' }).fill(RULE.price)
  await page.getByRole('textbox', { name: 'Shopify Variant Id' }).fill(RULE.variant)
  await page.getByRole('textbox', { name: 'Rule', exact: true }).fill(RULE.domain)
  await page.getByRole('textbox', { name: 'Description' }).fill('The store')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByRole('row').filter({ hasText: RULE.domain })).toContainText(`$${RULE.price}`)
}

/** Selects an entry of a row's menu. */
export async function choose(page: Page, row: string, entry: string): Promise<void> {
  const name = `Actions: ${row}`
  await page.getByRole('button', { name, exact: true }).click()
  // Another row's menu may still be closing.
  await page.getByRole('menu', { name, exact: true }).getByRole('menuitem', { name: entry, exact: true }).click()
}

/** Answers the question with this title, which must contain all `words`. */
export async function answer(page: Page, title: string, yes: 'YES' | 'NO', ...words: string[]): Promise<void> {
  const question = page.getByRole('dialog', { name: title, exact: true })
  for (const one of words) await expect(question).toContainText(one)
  await question.getByRole('button', { name: yes, exact: true }).click()
  await expect(question).toBeHidden()
}

/** Adds a server on the open servers screen and waits until it sells. @returns its row */
export async function addServer(page: Page, machine: Machine): Promise<Locator> {
  const { name, cidr, agentPort, proxyPort, access } = machine
  const field = (label: string) => page.getByRole('textbox', { name: label, exact: true })
  await field('Name').fill(name)
  await field('IP').fill('127.0.0.1')
  await field('CIDR').fill(cidr)
  await field('Agent port').fill(String(agentPort))
  await field('Proxy port').fill(String(proxyPort))
  if ('token' in access) await field('Agent token').fill(access.token)
  else {
    await field('SSH port').fill(String(access.sshPort))
    await field('Password').fill(access.key)
    await page.getByRole('switch', { name: 'run_init' }).check()
  }
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const row = page.getByRole('row').filter({ hasText: name })
  if (!('token' in access)) await expect(row).toContainText('Installing')
  // The runtime is 100 MB, which a busy machine copies slowly.
  await expect(row).toContainText('Up to date', { timeout: 240_000 })
  await expect(row.getByRole('cell', { name: 'yes' })).toBeVisible()
  return row
}

export async function addGroup(page: Page, name: string, servers: string[]): Promise<void> {
  await takeStep(page, 'Add a server group')
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('textbox', { name: 'Description' }).fill(`Servers in ${name}`)
  for (const server of servers) await page.getByRole('checkbox', { name: server }).check()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByRole('cell', { name: `Servers in ${name}` })).toBeVisible()
}

/** Adds one of the platform's products and sells one of its variants in blocks of eight from a group. */
export async function addProduct(page: Page, product: string, variant: string, group: string): Promise<void> {
  await takeStep(page, 'Add a product')
  await page.getByRole('link', { name: 'Add product' }).click()
  await page.getByRole('button', { name: `Choose: ${product}` }).click()
  await page.getByRole('button', { name: `Edit: ${variant}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Cart step' }).selectOption('8')
  await dialog.getByRole('combobox', { name: 'Server group' }).selectOption({ label: group })
  await expect(dialog.getByRole('row', { name: RULE.name })).toContainText('256')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByRole('row').filter({ hasText: product })).toContainText('256')
}
