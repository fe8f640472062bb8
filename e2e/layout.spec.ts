import type { Locator, Page } from '@playwright/test'
import { anOrder, buy, cancelOpen, signIn } from './calls.ts'
import { settled } from './settled.ts'
import { expect, test } from './shop.ts'

// Checks that need a real layout: what stays visible, overlaps, moves and prints.

const PROXIES = '/dashboard/index/proxies'

const boxOf = async (one: Locator) => {
  const box = await one.boundingBox()
  if (!box) throw new Error(`${String(one)} is not drawn`)
  return { left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height }
}

/** Its full height is inside the window. */
const isInside = (part: Locator) =>
  expect(async () => {
    const { top, bottom } = await boxOf(part)
    expect(top).toBeGreaterThanOrEqual(0)
    expect(bottom).toBeLessThanOrEqual(part.page().viewportSize()?.height ?? 0)
  }).toPass()

test('the facts and buttons of an order are in sight and apart at every width, as a table or as cards', async ({
  page,
  shop
}) => {
  const order = await buy(shop, { allRules: true })
  const open = await buy(shop, { allRules: true, pay: false })
  await signIn(page, shop, 'customer')
  // The widest possible row: an order about to end has an additional icon.
  await page.route(/\/api\/orders\/order_list\/\?/, async route => {
    const response = await route.fetch()
    const body = (await response.json()) as { data: { data: { state: string }[] } }
    const expired_at = new Date(Date.now() + 45.5 * 3_600_000).toISOString()
    const counts = { product_quantity: 1024, proxy_num: 1024 }
    const paid = { ...counts, state: 'partly_delivered', pay_amount: '1234.56', expired_at }
    const unpaid = { ...counts, amount: '1234.56', discount: { level: 4, discount: '12.50', discount_type: 'percent' } }
    const wide: Record<string, object> = { delivered: paid, placed: unpaid }
    body.data.data = body.data.data.map(one => ({ ...one, ...wide[one.state] }))
    return route.fulfill({ response, json: body })
  })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(shop.url + PROXIES)
  const rowOf = (id: string) => page.locator('[data-row]').filter({ hasText: id })
  const row = rowOf(order.order_id)
  const openRow = rowOf(open.order_id)
  const renew = row.getByRole('button', { name: /^Renew/ })
  const payNow = openRow.getByRole('link', { name: 'Pay now' })
  for (const width of [1440, 1400, 1366, 1330, 1280, 1100, 900, 780]) {
    await page.setViewportSize({ width, height: 900 })
    await expect(renew).toBeVisible()
    await settled(page)
    const facts = [
      [renew, row.getByText(/ (days|hours)/), row.getByText('$1,234.56')],
      [payNow, openRow.getByText(/^Pay by/), openRow.getByText('Platinum −12.5%')]
    ] as const
    for (const [button, ...texts] of facts) {
      await button.scrollIntoViewIfNeeded()
      const { left, right, top, bottom } = await boxOf(button)
      expect.soft(left >= 0 && right <= width, `in sight at ${width} px`).toBe(true)
      for (const text of texts) {
        const box = await boxOf(text)
        const isApart = box.right <= left || box.bottom <= top || box.top >= bottom
        expect.soft(isApart && box.right <= width, `apart at ${width} px`).toBe(true)
      }
    }
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await cancelOpen(shop)
})

test('the head of a long list, and on a phone the sum of an order and its proxies, stay in sight', async ({
  page,
  shop
}) => {
  const order = await buy(shop, { blocks: 3 })
  await signIn(page, shop, 'customer')

  await test.step('the head of a list, and the first row of its next page', async () => {
    await page.setViewportSize({ width: 1440, height: 600 })
    await page.goto(`${shop.url}${PROXIES}?order=${order.id}`)
    const proxies = page.getByRole('region', { name: 'Proxies' })
    const rows = proxies.getByRole('row')
    await expect(rows).toHaveCount(21)
    await rows.last().scrollIntoViewIfNeeded()
    const head = proxies.getByRole('columnheader', { name: 'Address' })
    const copy = proxies.getByRole('button', { name: 'Copy', exact: true })
    for (const kept of [head, copy]) await isInside(kept)
    // No row shows above the table's header.
    expect((await boxOf(head)).top).toBeGreaterThanOrEqual((await boxOf(copy)).bottom)
    await proxies.getByRole('button', { name: 'Page 2' }).click()
    await expect(rows).toHaveCount(5)
    await isInside(rows.nth(1))
  })

  await test.step('on a phone a tapped order has its proxies in view', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(shop.url + PROXIES)
    const card = page.getByRole('listitem').filter({ hasText: order.order_id })
    await card.locator('button[aria-pressed]').click()
    await expect(page.getByRole('heading', { name: 'Proxies', level: 2 })).toBeFocused()
    await isInside(page.getByRole('heading', { name: 'Proxies', level: 2 }))
    const first = page.getByRole('list', { name: 'Proxies' }).getByRole('listitem').first()
    await first.getByRole('button', { name: /^Show the password/ }).click()
    // On one line.
    expect((await first.locator('[data-password]').boundingBox())?.height).toBeLessThan(30)
  })

  await test.step('on a phone the sum and Purchase stay in sight, and cover nothing at the end', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${shop.url}/product`)
    await page.getByRole('link', { name: /Metro ISP/ }).click()
    const purchase = page.getByRole('button', { name: 'Purchase', exact: true })
    await isInside(purchase)
    await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)')
    await isInside(purchase)
    const last = page.locator('footer').getByRole('button').or(page.locator('footer').getByRole('link')).last()
    await isInside(last)
    expect((await boxOf(last)).bottom).toBeLessThanOrEqual((await boxOf(purchase)).top)
  })
})

/** Running animations that are long enough to be seen. */
const moving = (page: Page) =>
  page.evaluate<string[]>(`document.getAnimations()
    .filter(one => one.playState === 'running' && one.effect.getComputedTiming().duration > 1)
    .map(one => one.animationName ?? one.transitionProperty)`)

test('a receipt is printed alone and black on white; nothing moves for those who want less motion', async ({
  page,
  shop
}) => {
  const order = await anOrder(shop)
  await signIn(page, shop, 'customer')
  await page.emulateMedia({ colorScheme: 'dark' })
  for (const path of ['/', '/product', '/product?id=1', '/dashboard/index/rewards']) {
    await page.goto(shop.url + path)
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
    expect(await moving(page), path).toEqual([])
  }
  await page.goto(`${shop.url}${PROXIES}?order=${order.id}`)
  await page.getByRole('button', { name: 'Client access' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  expect(await moving(page)).toEqual([])

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

test('what is longer than the window ends inside it: the menu of a row, and a question of many lines', async ({
  page,
  shop
}) => {
  const group = (id: number) => ({ id, name: `A group of servers with a long name, number ${id}` })
  const counted = (orders: number) => ({ orders, addresses: orders * 8 })
  const plan = {
    ...counted(28),
    undelivered: 3,
    unpaid: 2,
    moves: counted(8),
    stays: counted(20),
    staying: Array.from({ length: 20 }, (_, index) => ({ order_id: `NL-20261122-${1000 + index}`, addresses: 8 })),
    reservations: { moves: counted(1), stays: counted(2) },
    stock: [1, 2, 3, 4].flatMap(id =>
      [1, 2].map(rule => ({
        group: group(id),
        before: 4096,
        after: 1024,
        rule: { id: rule, name: `a rule with a long name ${rule}` }
      }))
    )
  }
  const order = await anOrder(shop)
  await signIn(page, shop, 'admin')
  // A test shop has no fleet of this size, so the server's plan is mocked.
  await page.route(/\/plan\/\?/, route => route.fulfill({ json: { code: 2000, data: plan } }))
  for (const size of [
    { width: 1366, height: 640 },
    { width: 1440, height: 900 }
  ]) {
    await page.setViewportSize(size)
    await page.goto(`${shop.url}/dashboard/index/orders?search=${order.order_id}`)
    const button = page.getByRole('button', { name: `Actions: ${order.order_id}` })
    await button.scrollIntoViewIfNeeded()
    await button.click()
    const menu = page.getByRole('menu')
    await isInside(menu)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('End')
    await expect(menu.getByRole('menuitem').last()).toBeFocused()
    await isInside(menu.getByRole('menuitem').last())
    await page.keyboard.press('Escape')

    await page.goto(`${shop.url}/dashboard/index/servers`)
    await page.getByRole('button', { name: 'Actions: Local agent' }).click()
    await page.getByRole('menuitem', { name: 'Drain' }).click()
    const question = page.getByRole('dialog', { name: /^Drain/ })
    const input = question.getByRole('textbox', { name: /Type/ })
    await expect(question).toContainText('and 12 more')
    await expect(input).toBeFocused()
    for (const part of [input, ...['NO', 'YES'].map(name => question.getByRole('button', { name }))])
      await isInside(part)
    await page.keyboard.press('Escape')
    await expect(question).toBeHidden()
    await expect(page.getByRole('button', { name: 'Actions: Local agent' })).toBeFocused()
  }
})

test('the shell of a dashboard: its menu, full screen, and the way back to the top', async ({ page, shop }) => {
  await signIn(page, shop, 'admin')
  await page.setViewportSize({ width: 1280, height: 700 })
  await page.goto(`${shop.url}/dashboard/index/tasks`)
  await expect(page.getByRole('row').nth(10)).toBeVisible()
  const menu = page.getByRole('navigation', { name: 'Dashboard' })
  expect((await page.locator('#side-menu').boundingBox())?.height).toBe(700 - 120)

  const top = page.getByRole('button', { name: 'Back to top' })
  await expect(top).toBeHidden()
  await page.mouse.move(700, 400)
  await page.mouse.wheel(0, 350)
  await top.click()
  await expect.poll(() => page.evaluate<number>('window.scrollY')).toBe(0)

  await page.getByRole('button', { name: 'Full screen' }).click()
  for (const part of [menu, page.getByRole('banner')]) await expect(part).toBeHidden()
  await page.keyboard.press('Escape')
  for (const part of [menu, page.getByRole('banner')]) await expect(part).toBeVisible()

  // Up to 768 px it is closed by default, covers the page, and closes on a click outside.
  await page.setViewportSize({ width: 768, height: 700 })
  await expect(menu).toBeHidden()
  await page.getByRole('button', { name: 'Side menu' }).click()
  await expect(menu).toBeVisible()
  await page.mouse.click(700, 400)
  await expect(menu).toBeHidden()
})

test('a log-out takes along what was typed', async ({ page, shop }) => {
  await signIn(page, shop, 'customer')
  await page.goto(`${shop.url}/dashboard/index/setting`)
  const keys = page.getByRole('region', { name: 'API keys', exact: true })
  await keys.getByRole('textbox', { name: 'Name', exact: true }).fill('Crawler')
  const drafts = () =>
    page.evaluate<string[]>("Object.keys(sessionStorage).filter(key => key.startsWith('netlet-draft-'))")
  await expect.poll(drafts).toHaveLength(1)
  await page.getByRole('banner').getByRole('button', { name: shop.customer.username }).click()
  await page.getByRole('button', { name: 'Logout' }).click()
  await expect(page).toHaveURL(`${shop.url}/login`)
  await expect.poll(drafts).toEqual([])
})
