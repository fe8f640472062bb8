import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { curl, proxyUrl } from './curl.ts'
import { startEmptyShop, type EmptyShop } from './first-start.ts'
import { startByHand, startSshHost, type Machine } from './machines.ts'
import {
  addGroup,
  addProduct,
  addRule,
  addServer,
  answer,
  choose,
  connectMail,
  connectPlatform,
  logIn,
  openScreen,
  synchronise,
  takeStep
} from './operator.ts'
import { buyBlock, firstProxy, mailTo, signUp, writeTicket } from './shopper.ts'
import { expect, test as base } from './shop.ts'

type Day = { shop: EmptyShop; machines: readonly Machine[] }

const test = base.extend<{ day: Day; customer: Page }>({
  day: [
    // oxlint-disable-next-line no-empty-pattern -- the test runner reads the names of fixtures from this pattern
    async ({}, use, { annotations }) => {
      const host = await startSshHost()
      try {
        const shop = await startEmptyShop(host?.env)
        try {
          const first = { name: 'ny-1', cidr: '127.80.0.0/25' }
          if (!host) {
            const description = 'There is no sshd here: both agents run already, and none is installed over SSH'
            console.warn(description)
            annotations.push({ type: 'without SSH', description })
          }
          const machines = [
            host ? await host.machine(first) : await startByHand(shop, first),
            await startByHand(shop, { name: 'ny-2', cidr: '127.81.0.0/25' })
          ]
          await use({ shop, machines })
        } finally {
          await shop.stop()
        }
      } finally {
        await host?.close()
      }
    },
    { timeout: 300_000 }
  ],
  customer: async ({ browser }, use) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    await use(await context.newPage())
    await context.close()
  }
})

test.use({ viewport: { width: 1440, height: 900 } })

/** Sends a request through a proxy. @returns the address that the platform's echo saw, or the status */
async function through(proxy: string, { platformUrl }: EmptyShop): Promise<number | string> {
  const { status, body } = await curl(proxyUrl(proxy), `${platformUrl}/echo`)
  return status === 200 ? (JSON.parse(body) as { ip: string }).ip : status
}

const addressOf = (proxy: string) => proxy.split(':')[0]
const serverOf = (machines: readonly Machine[], proxy: string) => {
  const found = machines.find(({ proxyPort }) => String(proxyPort) === proxy.split(':')[1])
  if (!found) throw new Error(`${proxy} belongs to no machine`)
  return found
}

test("an operator's day: from the first start of an empty shop to the month's figures", async ({
  page,
  customer,
  day: { shop, machines }
}) => {
  test.setTimeout(420_000)
  const row = (words: string) => page.getByRole('row').filter({ hasText: words })

  await test.step('an empty shop says what it needs', async () => {
    await logIn(page, shop.url, shop.admin)
    await page.getByRole('banner').getByRole('link', { name: 'Dashboard' }).click()
    await expect(page.getByText('No orders yet')).toBeVisible()
    await openScreen(page, 'Home')
    const steps = page.getByRole('region', { name: 'Set up the shop' })
    await expect(steps.getByRole('link')).toHaveCount(6)
    await expect(steps.getByLabel('Done')).toHaveCount(0)
    expect(await violations(page)).toEqual([])
  })

  await test.step('the platform is connected, and sends its webhooks here', async () => {
    await connectPlatform(page, shop)
    await connectMail(page)
    await openScreen(page, 'Health')
    await page.getByRole('button', { name: 'Check now' }).click()
    await expect(page.getByRole('region', { name: 'Webhooks' })).toContainText('10 / 10')
  })

  await test.step('product types and tags are taken from the platform', async () => {
    await synchronise(page, 'Product Type', 'ISP Proxies')
    await synchronise(page, 'Product Tag', 'Streaming')
  })

  await test.step('a rule, two servers with their ranges, and a group', async () => {
    await addRule(page)
    await takeStep(page, 'Add a server')
    const [first, ...others] = machines
    if (!first) throw new Error('there is no machine')
    await addServer(page, first)
    for (const machine of others) {
      await page.getByRole('button', { name: 'Add server' }).click()
      await addServer(page, machine)
    }
    await addGroup(
      page,
      'New York',
      machines.map(({ name }) => name)
    )
    await openScreen(page, 'Cidr Manage')
    for (const { name, cidr } of machines) await expect(row(cidr)).toContainText(name)
  })

  await test.step('a product of the platform sells from the group, which shows its stock', async () => {
    await addProduct(page, 'Metro ISP', 'New York / Block of 8', 'New York')
  })

  let proxy = ''
  await test.step('a customer signs up, buys, and uses the proxies', async () => {
    await customer.goto(`${shop.url}/createAccount`)
    await signUp(customer, shop, 'mary')
    proxy = await buyBlock(customer, shop, 'Metro ISP')
    expect(await through(proxy, shop)).toBe(addressOf(proxy))
    await openScreen(page, 'Home')
    const map = page.getByRole('region', { name: 'Free addresses by server group and access rule' })
    await expect(map.getByRole('row', { name: /New York/ })).toContainText('248')
    await expect(page.getByRole('region', { name: 'Set up the shop' })).toHaveCount(0)
  })

  await test.step('a server dies: its orders move, and their customer is told', async () => {
    const dead = serverOf(machines, proxy)
    await dead.kill()
    await openScreen(page, 'Health')
    await page.getByRole('button', { name: 'Check now' }).click()
    await expect(page.getByRole('list', { name: 'Needs attention' })).toContainText(dead.name)
    await openScreen(page, 'Home')
    await page.getByRole('link', { name: 'Servers with problems' }).click()
    await expect(page).toHaveURL(/servers\?state=trouble/)
    await expect(row(dead.name)).toContainText('The health check failed')
    await choose(page, dead.name, 'Give up permanently')
    await answer(page, `Give up ${dead.name} permanently?`, 'YES', 'Orders that move: 1 (8 proxies).')
    await expect(page.getByText('1 of 1 done, 0 refused')).toBeVisible()
    await customer.reload()
    await expect.poll(() => firstProxy(customer)).not.toBe(proxy)
    proxy = await firstProxy(customer)
    expect(serverOf(machines, proxy)).not.toBe(dead)
    expect(await through(proxy, shop)).toBe(addressOf(proxy))
    await mailTo(shop, 'mary@example.com', /^Some of your addresses are changing/)
  })

  let second = ''
  await test.step('the shop sells on, and a refund ends one of two orders', async () => {
    second = await buyBlock(customer, shop, 'Metro ISP')
    expect(second).not.toBe(proxy)
    const orders = (await (await fetch(`${shop.platformUrl}/sandbox/orders`)).json()) as {
      id: string
      number: number
    }[]
    const bought = orders.at(-1)
    if (!bought) throw new Error('the platform has no order')
    await openScreen(page, 'Orders')
    await row(`#${bought.number}`).getByRole('link').first().click()
    await fetch(`${shop.platformUrl}/sandbox/orders/${bought.id}/refund`, { method: 'POST' })
    await expect(page.getByText('Refunded').first()).toBeVisible()
    // The agent resets a connection that it has just accepted for the user it removes.
    await expect.poll(() => through(proxy, shop).catch(String)).toBe(407)
    expect(await through(second, shop)).toBe(addressOf(second))
  })

  await test.step('a ticket is answered by mail, and its customer writes again', async () => {
    await writeTicket(customer, shop, 'mary', 'Which port do I use?')
    await openScreen(page, 'Home')
    await page.getByRole('link', { name: 'Open tickets' }).click()
    await choose(page, 'mary', 'Reply by email')
    const form = page.getByRole('dialog')
    await form.getByRole('textbox', { name: 'Reply' }).fill('The one after the address.')
    await form.getByRole('button', { name: 'Reply by email' }).click()
    // The list shows open tickets only.
    await expect(page.getByText('No ticket matches')).toBeVisible()
    expect((await mailTo(shop, 'mary@example.com', /^Reply to your ticket/)).text).toContain(
      'The one after the address.'
    )
    await page.keyboard.press('Escape')
    await customer.getByRole('link', { name: 'Ticket #1' }).click()
    await expect(customer.getByText('The one after the address.')).toBeVisible()
    await customer.getByRole('textbox', { name: 'Your message' }).fill('Thank you, that works.')
    await customer.getByRole('button', { name: 'Send' }).click()
    await expect(customer.getByRole('list', { name: 'Messages' })).toContainText('Thank you, that works.')
    await openScreen(page, 'Tickets')
    await page.getByRole('searchbox').fill('which port')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    for (const shown of ['mary@example.com', 'Which port do I use?', 'Open'])
      await expect(row('mary')).toContainText(shown)
    await choose(page, 'mary', 'View')
    for (const shown of ['mary', 'mary@example.com', 'Which port do I use?', 'Thank you, that works.'])
      await expect(form.getByText(shown, { exact: true }).first()).toBeVisible()
    await page.keyboard.press('Escape')
    for (const yes of ['NO', 'YES'] as const) {
      await choose(page, 'mary', 'Delete')
      await answer(page, 'Confirm deletion', yes, 'Delete ?', 'mary')
      await expect(row('mary')).toHaveCount(yes === 'NO' ? 1 : 0)
    }
  })

  await test.step("the month's figures are exported, and are those of the screen", async () => {
    await openScreen(page, 'Home')
    const sales = page.getByRole('region', { name: 'Sales' })
    await expect(sales).toContainText('$16.96')
    const download = page.waitForEvent('download')
    await sales
      .getByRole('link', { name: /as CSV/ })
      .first()
      .click()
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n')
    expect(lines).toEqual([
      'day,product,currency,purchases,renewals,paid,refunded,revenue',
      expect.stringMatching(/^\d{4}-\d\d-\d\d,Metro ISP,USD,2,0,33\.92,16\.96,16\.96$/)
    ])
  })
})
