import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, request as requests, type Page } from '@playwright/test'
import pg from 'pg'
import { call, signedIn } from './console.ts'
import type { EmptyShop } from './first-start.ts'
import { RULE } from './operator.ts'
import type { RunningShop } from './shop.ts'

export type Mail = { to: string; subject: string; text: string }

/** The newest mail to `to` whose subject fits, as soon as the mail service has it. */
export async function mailTo({ platform }: { platform: { url: string } }, to: string, subject: RegExp): Promise<Mail> {
  let found: Mail | undefined
  await expect
    .poll(
      async () => {
        const mails = (await (await fetch(`${platform.url}/outbox.json`)).json()) as Mail[]
        found = mails.find(mail => mail.to === to && subject.test(mail.subject))
        return found !== undefined
      },
      { message: `a mail to ${to}: ${subject}` }
    )
    .toBe(true)
  if (!found) throw new Error('the mail is gone')
  return found
}

export async function signUp(page: Page, shop: EmptyShop, username: string): Promise<void> {
  const email = `${username}@example.com`
  await page.goto(`${shop.url}/createAccount`)
  await page.getByRole('textbox', { name: 'Username' }).fill(username)
  await page.getByRole('textbox', { name: 'Email', exact: true }).fill(email)
  await page.getByRole('button', { name: 'send code' }).click()
  const { text } = await mailTo(shop, email, /code/)
  await page.getByRole('textbox', { name: 'Verification code' }).fill(/\d{6}/.exec(text)?.[0] ?? '')
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('Secret#2026')
  await page.getByRole('textbox', { name: /confirm/i }).fill('Secret#2026')
  await page.getByRole('button', { name: 'sign up', exact: true }).click()
  await expect(page).toHaveURL(`${shop.url}/product`)
}

/** Buys a block of eight, and pays on the platform's checkout. @returns one of the proxies: 'ip:port:user:password' */
export async function buyBlock(page: Page, shop: EmptyShop, product: string): Promise<string> {
  await page.goto(`${shop.url}/product`)
  await page.getByRole('link', { name: product }).click()
  await page.getByRole('radio', { name: 'Block of 8' }).check()
  await page.getByRole('button', { name: 'Purchase' }).click()
  const rules = page.getByRole('dialog', { name: 'Access rules' })
  await rules.getByRole('checkbox', { name: RULE.name }).check()
  await rules.getByRole('button', { name: 'Confirm' }).click()
  await expect(rules).toBeHidden()
  const opened = page.context().waitForEvent('page')
  await page.getByRole('button', { name: 'Purchase' }).click()
  const checkout = await opened
  await checkout.getByRole('button', { name: /Pay/ }).click()
  await expect(checkout.getByRole('heading', { name: /is paid/ })).toBeVisible()
  await checkout.close()
  await expect(page).toHaveURL(/\/dashboard\/index\/proxies(\?|$)/)
  return firstProxy(page)
}

/** The first proxy of the newest order, which the page shows as it is delivered. */
export async function firstProxy(page: Page): Promise<string> {
  const proxies = page.getByRole('region', { name: 'Proxies' })
  await expect(proxies.getByRole('row')).toHaveCount(9)
  const row = proxies.getByRole('row').nth(1)
  // The same button hides it again.
  if ((await row.innerText()).includes('•')) await row.getByRole('button', { name: /password/ }).click()
  await expect(row).not.toContainText('•')
  const [, address, user, password] = await row.getByRole('cell').allInnerTexts()
  return `${address}:${user}:${password?.trim()}`
}

export async function writeTicket(page: Page, shop: EmptyShop, username: string, message: string): Promise<void> {
  const shown = page.waitForResponse(reply => reply.url().endsWith('/api/auth/captcha'))
  await page.goto(`${shop.url}/support`)
  const { data } = (await (await shown).json()) as { data: { captcha_id: string } }
  await page.getByRole('textbox', { name: 'Name' }).fill(username)
  await page.getByRole('textbox', { name: 'Email' }).fill(`${username}@example.com`)
  await page.getByRole('textbox', { name: 'Phone' }).fill('+1 212 555 0100')
  await page.getByRole('textbox', { name: 'Message' }).fill(message)
  await page.getByRole('textbox', { name: 'Result of the calculation' }).fill(await solve(shop, data.captcha_id))
  await page.getByRole('button', { name: 'Submit' }).click()
  await page.getByRole('alert').last().waitFor()
}

/** A picture for people, which no program is to read: the test knows the answer from where it is kept. */
async function solve({ databaseUrl }: EmptyShop, id: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ answer: number }>('select answer from captchas where id = $1', [id])
    return String(rows[0]?.answer)
  } finally {
    await client.end()
  }
}

/** Cancels what waits for its payment: a customer may have only so many of them. */
export async function cancelOpen(shop: RunningShop): Promise<void> {
  const customer = await signedIn(shop, 'customer')
  const { data } = await call<{ data: { id: number; state: string }[] }>(
    customer,
    'get',
    '/api/orders/order_list/?limit=100'
  )
  for (const { id, state } of data)
    if (state === 'placed') await call(customer, 'post', `/api/orders/order_list/${id}/cancel/`, {})
  await customer.dispose()
}

/** The other tests log in from the same address, and are not to be asked for a captcha. */
export const forgetFailures = (shop: RunningShop): Promise<unknown> => inDatabase(shop, 'delete from login_failures')

/** Changes what no call changes: what time or another service does. */
export async function inDatabase({ dataDir }: RunningShop, statement: string, values: unknown[] = []): Promise<void> {
  const of = (name: string) => readFile(join(dataDir, 'postgres', name), 'utf8')
  const port = (await of('data/postmaster.pid')).split('\n')[3]
  const client = new pg.Client({
    host: '127.0.0.1',
    port: Number(port),
    user: 'netlet',
    database: 'postgres',
    password: (await of('password')).trim()
  })
  await client.connect()
  try {
    await client.query(statement, values)
  } finally {
    await client.end()
  }
}

export const PASSWORD = 'Secret#2026'

/** An address that no other test calls from, which the shop is told by the proxy in front of it: a client gets one code a minute. */
export const elsewhere = () => ({
  'x-forwarded-for': `10.${[0, 8, 16].map(shift => (Date.now() >> shift) & 255).join('.')}`
})

export type Customer = { username: string; email: string; password: string }

/** Signs somebody up with the code of the mail, whose name no other test has. */
export async function newCustomer(shop: RunningShop, invite: { invite_code?: string } = {}): Promise<Customer> {
  const username = `w${Date.now().toString(36).slice(-7)}`
  const email = `${username}@example.com`
  const request = await requests.newContext({ baseURL: shop.url, extraHTTPHeaders: elsewhere() })
  try {
    const { email_code_id } = await call<{ email_code_id: string }>(request, 'post', '/api/users/email_validate', {
      email,
      type: 'register'
    })
    const email_code = await codeTo(shop, email)
    const secret = { password: PASSWORD, repassword: PASSWORD }
    await call(request, 'post', '/api/users/u/', { username, email, email_code, email_code_id, ...secret, ...invite })
  } finally {
    await request.dispose()
  }
  return { username, email, password: PASSWORD }
}

/** The code of the newest mail to an address. */
export async function codeTo({ platformUrl }: RunningShop, email: string): Promise<string> {
  const { text } = await mailTo({ platform: { url: platformUrl } }, email, /code/)
  return /\d{6}/.exec(text)?.[0] ?? ''
}

/** Signs the browser's page in as a customer of its own. */
export async function asNewCustomer(page: Page, shop: RunningShop): Promise<Customer> {
  const customer = await newCustomer(shop)
  const reply = await page.request.post(`${shop.url}/api/auth/login`, { data: customer })
  expect(reply.ok()).toBe(true)
  return customer
}
