import type { Page } from '@playwright/test'
import { startNameServer } from '../apps/server/src/integrations/mail/name-server.fixture.ts'
import { violations } from './axe.ts'
import { answer, asAdmin, call, said } from './console.ts'
import { openScreen } from './operator.ts'
import { expect, test, type RunningShop } from './shop.ts'

// Every action, message and question of the specification about the shell, Q&A, settings and tasks.

test('the shell: menu, titles, full screen, the way back to the top, and what it leads an administrator away from', async ({
  page,
  shop
}) => {
  await page.setViewportSize({ width: 1280, height: 700 })
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/proxies`)
  const title = page.getByRole('heading', { level: 1 })
  await expect(title).toHaveText('Orders')
  await page.goto(`${shop.url}/dashboard/index/setting`)
  await expect(title).toHaveText('Orders')
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/orders`)

  const menu = page.getByRole('navigation', { name: 'Dashboard' })
  const entries = [
    'User Manage',
    'Orders',
    'Product Manage',
    'Product Type',
    'Product Tag',
    'Promo Code',
    'Gift Card',
    'Level Discount',
    'Server Manage',
    'Server Group Manage',
    'Acl Manage',
    'Acl Group Manage',
    'Cidr Manage',
    'Tickets',
    'Web Settings',
    'Q&A',
    'Tasks'
  ]
  for (const name of entries) {
    await openScreen(page, name)
    await expect(page).toHaveTitle(new RegExp(`^${name}`))
    await expect(title.locator('xpath=preceding-sibling::*[name()="svg"]')).toBeVisible()
  }
  expect((await page.locator('#side-menu').boundingBox())?.height).toBe(700 - 120)

  await openScreen(page, 'Orders')
  await page.getByRole('button', { name: 'Full screen' }).click()
  await expect(menu).toBeHidden()
  await expect(page.getByRole('banner')).toBeHidden()
  await page.keyboard.press('Escape')
  await expect(menu).toBeVisible()
  await expect(page.getByRole('banner')).toBeVisible()
  const top = page.getByRole('button', { name: 'Back to top' })
  await openScreen(page, 'Tasks')
  await expect(top).toBeHidden()
  await expect(page.getByRole('row').nth(10)).toBeVisible()
  await page.mouse.move(700, 400)
  await page.mouse.wheel(0, 350)
  await top.click()
  await expect.poll(() => page.evaluate<number>('window.scrollY')).toBe(0)

  await page.getByRole('button', { name: 'Side menu' }).click()
  await expect(menu).toBeHidden()
  await page.getByRole('button', { name: 'Side menu' }).click()
  await expect(menu).toBeVisible()
  // At 768 px or less it is closed by itself, lies over the page, and goes with a click beside it.
  await page.setViewportSize({ width: 768, height: 700 })
  await expect(menu).toBeHidden()
  await page.getByRole('button', { name: 'Side menu' }).click()
  await expect(menu).toBeVisible()
  await page.mouse.click(700, 400)
  await expect(menu).toBeHidden()
})

test('a log-out asks for nothing more, and another tab says what became of what was typed there', async ({
  page,
  shop
}) => {
  await asAdmin(page, shop)
  const refused: string[] = []
  const other = await page.context().newPage()
  for (const one of [page, other])
    one.on('response', answered => void (answered.status() === 401 && refused.push(answered.url())))
  await other.goto(`${shop.url}/dashboard/index/giftcard`)
  await other.getByRole('button', { name: 'Add gift card' }).click()
  await other.getByRole('dialog').getByRole('textbox').first().fill('12')

  await page.goto(`${shop.url}/dashboard/index/home`)
  await expect(page.getByRole('heading', { name: 'Sales' })).toBeVisible()
  // What is still asked for when the session ends is refused, and no fault of the log-out.
  await page.waitForLoadState('networkidle')
  await page.getByRole('banner').getByRole('button', { name: shop.admin.username }).click()
  await page.getByRole('button', { name: 'Logout' }).click()
  await expect(page).toHaveURL(/\/login/)
  await expect(page.getByText('You are no longer logged in')).toBeHidden()
  await expect(other).toHaveURL(/\/login/)
  await expect(other.getByText('You are no longer logged in. What you had not saved is lost.')).toBeVisible()
  await expect(other.getByRole('button', { name: 'Login' }).last()).toBeVisible()
  expect(refused).toEqual([])
})

test('Q&A: search, Add and Delete, in the words of the specification', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/QA`)
  await expect(page.getByRole('combobox', { name: 'Rows per page' })).toHaveValue('10')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const form = page.getByRole('dialog')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(form.getByText('Please enter question')).toBeVisible()
  await expect(form.getByText('Please enter answer')).toBeVisible()
  await form.getByRole('textbox', { name: 'Question' }).fill('Who walks here?')
  await form.getByRole('textbox', { name: 'Answer' }).fill('A walker.')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'successfully')
  await page.getByRole('searchbox').fill('walks')
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
  const row = page.getByRole('row').filter({ hasText: 'A walker.' })
  for (const yes of ['NO', 'YES'] as const) {
    await page.getByRole('button', { name: 'Delete: Who walks here?' }).click()
    await answer(page, 'Confirm deletion', yes, 'Delete ?', 'Who walks here?')
    await expect(row).toHaveCount(yes === 'NO' ? 1 : 0)
  }
})

test('Web Settings: the tabs of the specification, Save, and the logs as text that cannot be changed; the sending domain', async ({
  page,
  shop
}) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/WebsiteSettings`)
  await expect(page.getByRole('tab')).toHaveText(['Discord', 'Shopify', 'Email', 'System', 'geofeed', 'running logs'])
  await page.getByRole('tab', { name: 'System' }).click()
  const decay = page.getByRole('textbox', { name: 'Day of the decay' })
  await decay.fill('99')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Must be a number from 1 to 28')).toBeVisible()
  await decay.fill('3')
  await page.getByRole('button', { name: 'Save' }).click()
  await said(page, 'Successful operation')
  await page.reload()
  await expect(decay).toHaveValue('3')
  await page.getByRole('tab', { name: 'Email' }).click()
  await checkDomain(page, shop)
  await page.getByRole('tab', { name: 'running logs' }).click()
  const log = page.getByRole('log')
  await expect(log).toContainText(/INFO/)
  await expect(log.getByRole('textbox')).toHaveCount(0)
  await page.getByText('Task log', { exact: true }).click()
  await expect(page.getByRole('radio', { name: 'Task log' })).toBeChecked()
  await liftBlock(page, shop)
})

/** Presses the check of the sending domain: first nobody answers, then a name server says what is there. */
async function checkDomain(page: Page, { dnsPort }: RunningShop): Promise<void> {
  const found = page.getByRole('region', { name: 'Sending domain' })
  await found.getByRole('button', { name: 'Check the domain' }).click()
  await expect(found.getByText('Not known: the name server did not answer')).toHaveCount(3)
  const domain =
    /^Mails come from (\S+)\.$/.exec((await found.getByText('Mails come from').textContent()) ?? '')?.[1] ?? ''
  const dns = await startNameServer(dnsPort)
  dns.publish({ [domain]: ['v=spf1 include:sendgrid.net ~all'], [`_dmarc.${domain}`]: ['v=DMARC1'] })
  await found.getByRole('button', { name: 'Check again' }).click()
  await expect(found.getByText('SPF In order')).toBeVisible()
  await expect(found.getByText('v=spf1 include:sendgrid.net ~all')).toBeVisible()
  await expect(found.getByText('DKIM Missing')).toBeVisible()
  await expect(found.getByText('DMARC Wrong')).toBeVisible()
  expect(await violations(page)).toEqual([])
  dns.close()
}

/** An address that takes no mail stands in its list, and an operator has it written to again. */
async function liftBlock(page: Page, shop: RunningShop): Promise<void> {
  const to = 'gone@example.com'
  await call(page.request, 'post', `${shop.url}/api/status/subscribe/`, { email: to, language: 'en' })
  const outbox = async () =>
    (await (await fetch(`${shop.platformUrl}/outbox.json`)).json()) as { id: string; to: string }[]
  await expect.poll(async () => (await outbox()).some(mail => mail.to === to)).toBe(true)
  const id = (await outbox()).find(mail => mail.to === to)?.id ?? ''
  await page.goto(`${shop.platformUrl}/outbox/${id}`)
  await page.getByRole('button', { name: 'It came back: no such mailbox' }).click()
  await expect(page.getByRole('status')).toContainText('Told the shop')
  await page.goto(`${shop.url}/dashboard/index/mails?tab=blocked`)
  const row = page.getByRole('row').filter({ hasText: to })
  await expect(row).toContainText('Takes no mail')
  await expect(row).toContainText('SendGrid')
  expect(await violations(page)).toEqual([])
  await row.getByRole('button', { name: `Write to it again: ${to}` }).click()
  await answer(page, 'Write to it again', 'YES', `Mail to ${to} is sent again.`)
  await said(page, 'The address is written to again.')
  await expect(row).toHaveCount(0)
}

test('Tasks: schedules with Run now, queues, dead letters and the monitor', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/tasks`)
  const row = page.getByRole('row').filter({ hasText: 'expire-orders' })
  await row.getByRole('button', { name: /Run now/ }).click()
  await expect(row).toContainText('Done')
  await page.getByRole('tab', { name: 'Queues' }).click()
  await expect(page.getByRole('row').filter({ hasText: 'send-mail' })).toBeVisible()
  await page.getByRole('tab', { name: 'Dead letters' }).click()
  await expect(page.getByText('No dead letters').first()).toBeVisible()
  await page.getByRole('tab', { name: 'Monitor' }).click()
  await expect(page.frameLocator('iframe').locator('body')).toContainText(/queue/i)
  for (const name of ['Back', 'Forward', 'Refresh']) await expect(page.getByRole('button', { name })).toBeVisible()
})
