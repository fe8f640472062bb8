import { expect, test as base } from '@playwright/test'
import { curl, proxyUrl } from './curl.ts'
import { startShop, type RunningShop } from './shop.ts'

const test = base.extend<object, { shop: RunningShop }>({
  shop: [
    // oxlint-disable-next-line no-empty-pattern -- the test runner reads the names of fixtures from this pattern
    async ({}, use) => {
      const { shop, stop } = await startShop({ history: true })
      await use(shop)
      await stop()
    },
    { scope: 'worker', timeout: 300_000 }
  ]
})

test('a newcomer finds a shop that has been running for days, whose proxies work', async ({ page, shop }) => {
  const logIn = async ({ username, password }: { username: string; password: string }) => {
    await page.goto(`${shop.url}/login`)
    await page.getByRole('textbox', { name: 'Username or email' }).fill(username)
    await page.getByRole('textbox', { name: 'Password' }).fill(password)
    await page.getByRole('button', { name: 'Login', exact: true }).click()
  }

  await test.step('Home says what needs attention, and has sales, endings and delivery times', async () => {
    await logIn(shop.admin)
    await expect(page).not.toHaveURL(/login/)
    await page.goto(`${shop.url}/dashboard/index/home`)
    const undelivered = page.getByRole('link', { name: /1\s*Paid orders without a delivery/ })
    // What needs attention is counted over the whole stock.
    await expect(undelivered).toBeVisible()
    await expect(page.getByRole('link', { name: /2\s*Payments to decide on/ })).toBeVisible()
    await expect(page.getByRole('link', { name: /3\s*Open tickets/ })).toBeVisible()
    const times = page.getByRole('row', { name: /Half of all within/ })
    await expect(times).toContainText(/\d(\.\d)? sec/)
  })

  await test.step('the demo customer has a proxy, and it works', async () => {
    await page.context().clearCookies()
    await logIn(shop.customer)
    await expect(page).not.toHaveURL(/login/)
    const list = `${shop.url}/api/orders/order_list/`
    const orders = (await (await page.request.get(`${list}?limit=10`)).json()) as { data: { data: { id: number }[] } }
    expect(orders.data.data).toHaveLength(2)
    const copied = await page.request.get(`${list}${orders.data.data[0]?.id}/copy_proxies/`)
    const { data } = (await copied.json()) as { data: { proxy_lines: string[] } }
    const [line = ''] = data.proxy_lines
    const seen = await curl(proxyUrl(line), `${shop.platformUrl}/echo`)
    expect(JSON.parse(seen.body)).toMatchObject({ ip: line.split(':')[0] })
  })
})
