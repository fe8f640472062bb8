import { findBrowser } from './browser.ts'
import { asCustomer, buy } from './console.ts'
import { expect, test } from './shop.ts'

const { args, ...browser } = await findBrowser()
// Text of twice its size, as somebody sets it in the browser.
test.use({
  viewport: { width: 390, height: 844 },
  launchOptions: { ...browser, args: [...args, '--blink-settings=defaultFontSize=32'] }
})

test('a phone whose text has twice its size shows every page in its width, with the menu at hand', async ({
  page,
  shop
}) => {
  const order = await buy(shop)
  const fits = async (path: string) => {
    await page.goto(shop.url + path)
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
    await page.waitForLoadState('networkidle')
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
    expect.soft(wide, path).toBeLessThanOrEqual(0)
    await expect.soft(page.getByRole('banner').getByRole('button').last()).toBeInViewport({ ratio: 1 })
  }
  for (const path of [
    '/',
    '/product',
    '/product?id=1',
    '/rewards',
    '/support',
    '/status',
    '/createAccount',
    '/login',
    '/api-reference'
  ])
    await fits(path)
  await asCustomer(page, shop)
  for (const name of ['proxies', 'rewards', 'promocodeUser', 'giftcardUser', 'invite', 'receipts', 'setting'])
    await fits(`/dashboard/index/${name}`)
  await fits(`/dashboard/index/receipts/${order.id}`)
})
