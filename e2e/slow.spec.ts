import { buy } from './console.ts'
import { holding } from './held.ts'
import { movedIn, shiftOf, watchShifts } from './layout.ts'
import { expect, test } from './shop.ts'

/** Milliseconds that each answer takes longer. */
const LATE = 400

test('each click is answered before the shop is: what waits says so, and goes on by itself', async ({
  page,
  context,
  shop
}) => {
  const pending = (name: string) =>
    page.locator('main').getByRole('button', { name, exact: true }).and(page.locator('[data-loading]'))
  const order = await buy(shop)

  await test.step('a link to another page', async () => {
    await page.goto(shop.url)
    const code = await holding(page, /\/assets\/page-.*\.js$/)
    await page.getByRole('banner').getByRole('link', { name: 'Product' }).click()
    await expect(page.getByRole('status', { name: 'Loading' })).toBeVisible()
    await expect(page).toHaveURL(`${shop.url}/product`)
    await code()
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
    await expect(page.locator('body[data-going]')).toHaveCount(0)
  })

  await test.step('Login', async () => {
    await page.goto(`${shop.url}/login`)
    await page.getByRole('textbox', { name: 'Username or email' }).fill(shop.customer.username)
    await page.getByRole('textbox', { name: 'Password' }).fill(shop.customer.password)
    const login = await holding(page, /\/api\/auth\/login$/)
    await page.getByRole('button', { name: 'Login', exact: true }).last().click()
    await expect(pending('Login')).toBeVisible()
    await login()
    await expect(page).toHaveURL(`${shop.url}/product`)
  })

  await test.step('Purchase', async () => {
    await page.getByRole('link', { name: /Metro ISP/ }).click()
    await page.getByRole('radio', { name: 'Block of 8' }).check()
    await page.getByRole('button', { name: 'Purchase' }).click()
    const rules = page.getByRole('dialog', { name: 'Access rules' })
    await rules.getByRole('checkbox', { name: /Netflix/ }).check()
    await rules.getByRole('button', { name: 'Confirm' }).click()
    await expect(rules).toBeHidden()
    const checkout = await holding(page, /\/api\/orders\/checkout$/)
    const opened = context.waitForEvent('page')
    await page.getByRole('button', { name: 'Purchase' }).click()
    await expect(page.getByRole('button', { name: 'Purchase' }).and(page.locator('[data-loading]'))).toBeVisible()
    // The tab that was opened with the click says what it waits for.
    const tab = await opened
    await expect(tab.locator('body')).toContainText('Opening the checkout…')
    await checkout()
    const payment = page.getByRole('dialog', { name: 'Waiting for your payment' })
    await expect(payment).toBeVisible()
    await tab.close()
    await payment.getByRole('button', { name: 'Cancel order' }).click()
    await page.getByRole('dialog', { name: 'Cancel this order?' }).getByRole('button', { name: 'YES' }).click()
    await expect(payment).toBeHidden()
  })

  await test.step('Check and Copy, an entry of the menu', async () => {
    await page.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
    const proxies = page.getByRole('region', { name: 'Proxies' })
    await expect(proxies.getByRole('row')).toHaveCount(9)
    for (const [name, path] of [
      ['Copy', /\/copy_proxies\//],
      ['Check', /\/check_proxy\//]
    ] as const) {
      const call = await holding(page, path)
      await proxies.getByRole('button', { name, exact: true }).click()
      await expect(pending(name)).toBeVisible()
      await call()
      await expect(pending(name)).toHaveCount(0)
    }
    const answers = await holding(page, /\/api\/rewards\//)
    await page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name: 'Promo code' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Promo code' })).toBeVisible()
    await answers()
    await expect(page.getByText('No data')).toBeVisible()
  })
})

test('late answers move nothing on the widest window', async ({ page, shop }) => {
  await page.setViewportSize({ width: 2560, height: 1080 })
  await watchShifts(page)
  await page.route('**/api/**', async route => {
    await new Promise(resolve => setTimeout(resolve, LATE))
    await route.continue()
  })
  for (const path of ['/', '/product', '/product?id=1', '/status']) {
    await page.goto(shop.url + path)
    await page.waitForLoadState('networkidle')
    expect.soft(await shiftOf(page), `${path}: ${await movedIn(page)}`).toBeLessThanOrEqual(0.05)
  }
})
