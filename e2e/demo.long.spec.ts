import { call, signIn } from './calls.ts'
import { curl, proxyUrl } from './curl.ts'
import { expect, startShop, test } from './shop.ts'

test('a newcomer finds a shop that has been running for days', async ({ browser }) => {
  test.setTimeout(420_000)
  // As a newcomer sees `npm start`.
  const { shop, stop } = await startShop({ history: true })
  const { platformUrl, url } = shop
  try {
    await test.step("the operator's first screen says what needs attention", async () => {
      const admin = await browser.newPage()
      await signIn(admin, shop, 'admin')
      await admin.goto(`${url}/dashboard/index/home`)
      for (const words of [/1\s*Paid but undelivered orders/, /2\s*Payments that need a decision/, /3\s*Open tickets/])
        await expect(admin.getByRole('link', { name: words })).toBeVisible()
      await expect(admin.getByRole('row', { name: /50% within/ })).toContainText(/\d(\.\d)? sec/)
      await admin.close()
    })

    await test.step('the demo customer has had a proxy for days, and it works', async () => {
      const customer = await browser.newPage({ baseURL: url })
      await signIn(customer, shop, 'customer')
      const list = '/api/orders/order_list/'
      const { data: orders } = await call<{ data: { id: number }[] }>(customer.request, 'get', `${list}?limit=10`)
      expect(orders).toHaveLength(2)
      const path = `${list}${orders[0]?.id}/copy_proxies/`
      const { proxy_lines: lines } = await call<{ proxy_lines: string[] }>(customer.request, 'get', path)
      const seen = await curl(proxyUrl(lines[0] ?? ''), `${platformUrl}/echo`)
      expect(JSON.parse(seen.body)).toMatchObject({ ip: lines[0]?.split(':')[0] })
      await customer.close()
    })
  } finally {
    expect(await stop()).toBe(0)
  }
})
