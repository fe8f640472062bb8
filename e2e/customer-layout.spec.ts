import type { Locator, Page } from '@playwright/test'
import { asCustomer, buy } from './console.ts'
import { expect, test } from './shop.ts'
import { cancelOpen } from './shopper.ts'

// What only a browser that draws can tell: what stays in sight, what lies on what, what moves, and what is printed.

const PROXIES = '/dashboard/index/proxies'

test.beforeEach(async ({ page, shop }) => {
  await asCustomer(page, shop)
})
test.afterEach(async ({ shop }) => cancelOpen(shop))

const boxOf = async (one: Locator) => {
  const box = await one.boundingBox()
  if (!box) throw new Error(`${String(one)} is not drawn`)
  return { left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height }
}
const toEnd = (page: Page) => page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)')

test('with every rule bought, "Pay now" and "Expires" are in sight at 1440 px', async ({ page, shop }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const paid = await buy(shop, { allRules: true })
  const open = await buy(shop, { allRules: true, pay: false })
  await page.goto(shop.url + PROXIES)
  const table = page.getByRole('group', { name: 'Recent orders' })
  const rowOf = (order: { order_id: string }) => table.getByRole('row').filter({ hasText: order.order_id })
  await expect(rowOf(paid)).toContainText(/days/)
  const right = (await boxOf(table)).right
  for (const one of [
    table.getByRole('columnheader', { name: 'Expires' }),
    rowOf(paid).getByRole('button', { name: /^Renew/ }),
    rowOf(open).getByRole('link', { name: 'Pay now' })
  ]) {
    await expect(one).toBeInViewport({ ratio: 1 })
    expect((await boxOf(one)).right).toBeLessThanOrEqual(right + 0.5)
  }
})

test('no button covers an amount in the widest rows that a table shows', async ({ page, shop }) => {
  const order = await buy(shop)
  await page.route(/\/api\/orders\/order_list\/\?/, async route => {
    const response = await route.fetch()
    const body = (await response.json()) as { data: { data: object[] } }
    // An end that is near has a sign before it.
    const expired_at = new Date(Date.now() + 45.5 * 3_600_000).toISOString()
    const wide = {
      state: 'partly_delivered',
      product_quantity: 1024,
      proxy_num: 1024,
      last_amount: '1234.56',
      expired_at
    }
    body.data.data = body.data.data.map(one => ({ ...one, ...wide }))
    return route.fulfill({ response, json: body })
  })
  for (const width of [1280, 1330, 1366, 1400]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto(shop.url + PROXIES)
    const row = page.locator('[data-row]').filter({ hasText: order.order_id })
    const amount = row.getByText('$1,234.56')
    const { left } = await boxOf(row.getByRole('button', { name: /^Renew/ }))
    expect((await boxOf(amount)).right, `at ${width} px`).toBeLessThanOrEqual(left)
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('what is known of an order is in sight at every width, as a table or as cards', async ({ page, shop }) => {
  const order = await buy(shop, { allRules: true })
  for (const width of [780, 900, 1100, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto(shop.url + PROXIES)
    const list = page.locator('[data-rows]').filter({ hasText: order.order_id })
    const row = list.locator('[data-row]').filter({ hasText: order.order_id })
    const renew = row.getByRole('button', { name: /^Renew/ })
    await expect(renew).toBeInViewport({ ratio: 1 })
    const { left, top, bottom } = await boxOf(renew)
    for (const fact of [row.getByText(/ (days|hours)/), row.getByText('$').first()]) {
      await expect(fact, `at ${width} px`).toBeInViewport({ ratio: 1 })
      const box = await boxOf(fact)
      expect(box.right <= left || box.bottom <= top || box.top >= bottom, `covered at ${width} px`).toBe(true)
    }
  }
})

test('the head of a long list stays in sight, and a page further its first row is', async ({ page, shop }) => {
  await page.setViewportSize({ width: 1440, height: 600 })
  const order = await buy(shop, { blocks: 3 })
  await page.goto(`${shop.url}${PROXIES}?order=${order.id}`)
  const proxies = page.getByRole('region', { name: 'Proxies' })
  const rows = proxies.getByRole('row')
  await expect(rows).toHaveCount(21)
  await rows.last().scrollIntoViewIfNeeded()
  const head = proxies.getByRole('columnheader', { name: 'Address' })
  for (const kept of [head, proxies.getByRole('button', { name: 'Copy', exact: true })])
    await expect(kept).toBeInViewport({ ratio: 1 })
  // Nothing of the list shows through above its head.
  expect((await boxOf(head)).top).toBeGreaterThanOrEqual(
    (await boxOf(proxies.getByRole('button', { name: 'Copy', exact: true }))).bottom
  )
  await proxies.getByRole('button', { name: 'Page 2' }).click()
  await expect(rows).toHaveCount(5)
  await expect(rows.nth(1)).toBeInViewport({ ratio: 1 })
})

test('on a phone the sum and Purchase stay in sight, and cover nothing at the end', async ({ page, shop }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`${shop.url}/product`)
  await page.getByRole('link', { name: /Metro ISP/ }).click()
  const purchase = page.getByRole('button', { name: 'Purchase', exact: true })
  await expect(purchase).toBeInViewport({ ratio: 1 })
  await toEnd(page)
  await expect(purchase).toBeInViewport({ ratio: 1 })
  const last = page.locator('footer').getByRole('button').or(page.locator('footer').getByRole('link')).last()
  await expect(last).toBeInViewport({ ratio: 1 })
  expect((await boxOf(last)).bottom).toBeLessThanOrEqual((await boxOf(purchase)).top)
})

test('a receipt is printed alone, black on white, also from a dark screen', async ({ page, shop }) => {
  const order = await buy(shop)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(`${shop.url}/dashboard/index/receipts/${order.id}`)
  const sheet = page.getByRole('heading', { name: /^Receipt #/ })
  await expect(sheet).toBeVisible()
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
  await expect(sheet).toBeVisible()
  for (const other of [page.getByRole('banner'), page.locator('footer'), page.getByRole('button', { name: 'Print' })])
    await expect(other).toBeHidden()
  const styles = await page.evaluate<string[]>(`[
    getComputedStyle(document.body).backgroundColor,
    ...[...document.querySelectorAll('table td')].map(cell => getComputedStyle(cell).color)
  ]`)
  expect([...new Set(styles)]).toEqual(['rgb(255, 255, 255)', 'rgb(0, 0, 0)'])
})

test('nothing moves by itself for those who want less motion', async ({ page, shop }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const moving = () =>
    page.evaluate<string[]>(`document.getAnimations()
      .filter(one => one.playState === 'running' && one.effect.getComputedTiming().duration > 1)
      .map(one => one.animationName ?? one.transitionProperty)`)
  const order = await buy(shop)
  for (const path of ['/', '/product', '/product?id=1', `${PROXIES}?order=${order.id}`, '/dashboard/index/rewards']) {
    await page.goto(shop.url + path)
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
    expect(await moving(), path).toEqual([])
  }
  // Nor in answer to a click.
  await page.goto(`${shop.url}${PROXIES}?order=${order.id}`)
  await page.getByRole('button', { name: 'Client access' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  expect(await moving()).toEqual([])
})
