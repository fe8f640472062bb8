import type { Page } from '@playwright/test'
import { anOrder, buy, signIn } from './calls.ts'
import { expect, test } from './shop.ts'

/** Half of a call's timeout, so a message within this time did not wait for one. */
const AT_ONCE = { timeout: 10_000 }

/** Goes online again. @returns the writing calls made from then on */
async function online(page: Page): Promise<string[]> {
  const writes: string[] = []
  page.on('request', request => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/') && request.method() !== 'GET') writes.push(`${request.method()} ${pathname}`)
  })
  await page.context().setOffline(false)
  // Queued calls would be sent as soon as the browser is online, long before these requests are answered.
  for (let times = 0; times < 3; times++)
    expect(await page.evaluate("fetch('/boot.js', { cache: 'no-store' }).then(reply => reply.status)")).toBe(200)
  return writes
}

test('what is done without a connection says so at once, and nothing is sent afterwards', async ({
  page,
  context,
  shop
}) => {
  const order = await anOrder(shop)
  await signIn(page, shop, 'customer')
  const said = page.getByRole('alert').filter({ hasText: 'You are offline.' })

  await test.step('Purchase', async () => {
    await page.goto(`${shop.url}/product`)
    await page.getByRole('link', { name: /Metro ISP/ }).click()
    await page.getByRole('radio', { name: 'Block of 8' }).check()
    await page.getByRole('button', { name: 'Purchase' }).click()
    const dialog = page.getByRole('dialog', { name: 'Access rules' })
    await dialog.getByRole('checkbox', { name: /Netflix/ }).check()
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await expect(dialog).toBeHidden()
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Purchase' }).click()
    await expect(said).toBeVisible(AT_ONCE)
    // The same message is shown once.
    await page.getByRole('button', { name: 'Purchase' }).click()
    await expect(said).toHaveCount(1)
    expect(await online(page)).toEqual([])
    await expect(page.getByRole('dialog')).toHaveCount(0)
  })

  await test.step('Copy, Export and Check', async () => {
    await page.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
    const proxies = page.getByRole('region', { name: 'Proxies' })
    await expect(proxies.getByRole('row')).toHaveCount(9)
    // The first action loads the code of messages.
    await proxies.getByRole('button', { name: 'Copy', exact: true }).click()
    await expect(page.getByRole('alert').first()).toBeVisible()
    await context.setOffline(true)
    for (const name of ['Copy', 'Export', 'Check']) {
      await proxies.getByRole('button', { name, exact: true }).click()
      await expect(said.first()).toBeVisible(AT_ONCE)
      await said.first().getByRole('button', { name: 'Close' }).click()
      await expect(said).toHaveCount(0)
    }
    expect(await online(page)).toEqual([])
  })
})

test('a page that cannot be loaded says so beside the menu, and is tried again without a reload', async ({
  page,
  context,
  shop
}) => {
  // Never idle, so that the other pages of the dashboard are not preloaded.
  await page.addInitScript('window.requestIdleCallback = () => 0')
  // A browser may fire the event before it is really online, so the test fires it itself.
  await page.addInitScript(
    "addEventListener('online', event => event.isTrusted && event.stopImmediatePropagation(), true)"
  )
  await buy(shop)
  await signIn(page, shop, 'customer')
  await page.goto(`${shop.url}/dashboard/index/proxies`)
  const menu = page.getByRole('navigation', { name: 'Dashboard' })
  await expect(menu.getByRole('link', { name: 'Settings' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Proxies' }).getByRole('row')).toHaveCount(9)
  // A reload would remove this.
  await page.evaluate('window.notReloaded = true')

  await context.setOffline(true)
  await menu.getByRole('link', { name: 'Settings' }).click()
  await expect(page.getByRole('heading', { name: 'You are offline' })).toBeVisible(AT_ONCE)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('heading', { name: 'You are offline' })).toBeVisible()
  await menu.getByRole('link', { name: 'Proxies', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Proxies', level: 1 })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Proxies' })).toBeVisible()

  // Retried automatically when online.
  await menu.getByRole('link', { name: 'Invite' }).click()
  await expect(page.getByRole('heading', { name: 'You are offline' })).toBeVisible(AT_ONCE)
  await online(page)
  await page.evaluate("dispatchEvent(new Event('online'))")
  await expect(page.getByText('Invite URL')).toBeVisible()
  expect(await page.evaluate('window.notReloaded')).toBe(true)

  // Online, but neither code nor shop answers, so the page stays.
  const code = /\/(assets\/.*|boot)\.(js|css)$/
  await page.route(code, route => route.abort())
  await menu.getByRole('link', { name: 'Settings' }).click()
  await expect(page.getByRole('heading', { name: 'This page cannot be loaded' })).toBeVisible()
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(menu).toBeVisible()
  await page.unroute(code)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('region', { name: 'API keys' })).toBeVisible()
})
