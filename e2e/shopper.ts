import { expect, type Page } from '@playwright/test'
import pg from 'pg'
import type { EmptyShop } from './first-start.ts'
import { RULE } from './operator.ts'

type Mail = { to: string; subject: string; text: string }
/** The addresses of a shop and its stand-in. */
type Place = { url: string; platformUrl: string }

/** The newest mail to `to` with a matching subject, once the mail service has it. */
export async function mailTo({ platformUrl }: Place, to: string, subject: RegExp): Promise<Mail> {
  let found: Mail | undefined
  await expect
    .poll(
      async () => {
        const mails = (await (await fetch(`${platformUrl}/outbox.json`)).json()) as Mail[]
        found = mails.find(mail => mail.to === to && subject.test(mail.subject))
        return found !== undefined
      },
      // Emails about many orders are gathered for half a minute.
      { message: `a mail to ${to}: ${subject}`, timeout: 90_000 }
    )
    .toBe(true)
  if (!found) throw new Error('the mail is gone')
  return found
}

/** Fills in the open sign-up form with the mailed code. */
export async function signUp(page: Page, shop: Place, username: string): Promise<void> {
  const email = `${username}@example.com`
  await page.getByRole('textbox', { name: 'Username' }).fill(username)
  await page.getByRole('textbox', { name: 'Email', exact: true }).fill(email)
  await page.getByRole('button', { name: 'send code' }).click()
  const { text } = await mailTo(shop, email, /code/)
  await page.getByRole('textbox', { name: 'Verification code' }).fill(/\d{6}/.exec(text)?.[0] ?? '')
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('Harbour#2026')
  await page.getByRole('textbox', { name: /confirm/i }).fill('Harbour#2026')
  await page.getByRole('button', { name: 'sign up', exact: true }).click()
  await expect(page).toHaveURL(`${shop.url}/product`)
}

/** Pays on the platform's checkout, which opens in its own tab. */
export async function pay(checkout: Page): Promise<void> {
  await checkout.getByRole('button', { name: /Pay/ }).click()
  await expect(checkout.getByRole('heading', { name: /is paid|Thank you/i })).toBeVisible()
  await checkout.close()
}

/** Buys a block of eight and pays on the platform's checkout. @returns one of the proxies: 'ip:port:user:password' */
export async function buyBlock(page: Page, shop: Place, product: string): Promise<string> {
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
  await pay(await opened)
  await expect(page).toHaveURL(/\/dashboard\/index\/proxies(\?|$)/)
  return firstProxy(page)
}

/** The first proxy of the newest order, once the page shows it as delivered. */
export async function firstProxy(page: Page): Promise<string> {
  const proxies = page.getByRole('region', { name: 'Proxies' })
  await expect(proxies.getByRole('row')).toHaveCount(9)
  const row = proxies.getByRole('row').nth(1)
  // The same button would hide it again.
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

/** Programs cannot read the captcha, so the test reads the answer from the database. */
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
