import { readFile } from 'node:fs/promises'
import type { Order } from '@netlet/contract'
import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { answerByKeyboard, asAdmin, buy, call, chooseByKeyboard, signedIn } from './console.ts'
import { expect, test, type RunningShop } from './shop.ts'

const ORDERS = '/dashboard/index/orders'
const CARDS = '/dashboard/index/giftcard'

/** The row of an order has no work running any more. */
async function settled(page: Page, shop: RunningShop, order: Order): Promise<void> {
  const read = async () => {
    const reply = await page.request.get(`${shop.url}/api/orders/order_list/${order.id}/get_proxy_detail/?limit=1`)
    return ((await reply.json()) as { data: { order: Order } }).data.order
  }
  await expect.poll(read).toMatchObject({ task: null })
}

test("an administrator does everything with an order that its row's menu offers, by keyboard", async ({
  page,
  context,
  shop
}) => {
  test.setTimeout(180_000)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.url })
  const order = await buy(shop)
  const unpaid = await buy(shop, { pay: false })
  await asAdmin(page, shop)
  await page.goto(shop.url + ORDERS)
  const row = page.getByRole('row').filter({ hasText: order.order_id })
  const menu = `Actions: ${order.order_id}`
  const toast = (words: string) => page.getByRole('alert').filter({ hasText: words }).last()

  await test.step('statistics, and what is known of an order at a glance', async () => {
    await expect(page.getByText('Revenue', { exact: true })).toBeVisible()
    await expect(row).toContainText('8/8')
    await expect(row).toContainText('Active')
    await expect(page.getByRole('row').filter({ hasText: unpaid.order_id })).toContainText('Unpaid')
    await expect(row.getByRole('link', { name: order.username })).toHaveAttribute(
      'href',
      `/dashboard/index/userList?search=${order.username}`
    )
  })

  await test.step('finds it, and looks at it beside the list', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type(order.order_id)
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(`${shop.url}${ORDERS}?search=${order.order_id}`)
    await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
    // Enter left the focus in the field, where letters are typed.
    await page.keyboard.press('Tab')
    await page.keyboard.press('j')
    await expect(row).toBeFocused()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: 'Order' })
    await expect(drawer).toContainText(order.email)
    await expect(drawer.getByRole('region', { name: 'History' })).toContainText('Delivered')
    await page.keyboard.press('Escape')
    await expect(drawer).toBeHidden()
  })

  await test.step('opens its page with its timeline, money and proxies, and goes back to the list as it was', async () => {
    await chooseByKeyboard(page, menu, 'Details')
    await expect(page).toHaveURL(`${shop.url}/dashboard/index/order/${order.id}`)
    const proxies = page.getByRole('region', { name: 'Proxies' })
    await expect(proxies.getByRole('row')).toHaveCount(9)
    await expect(proxies.getByRole('link', { name: 'Local agent' })).toHaveCount(8)
    await expect(page.getByRole('region', { name: 'Money' })).toContainText('Purchase')
    const timeline = page.getByRole('region', { name: 'History' })
    for (const happened of ['Placed', 'Platform: payment', 'Paid', 'Delivered'])
      await expect(timeline.getByText(happened, { exact: true })).toBeVisible()
    await proxies.getByRole('combobox', { name: 'Rows per page' }).selectOption('20')
    await expect(page).toHaveURL(/per=20/)
    await page.getByRole('link', { name: 'Back to the list' }).press('Enter')
    await expect(page).toHaveURL(`${shop.url}${ORDERS}?search=${order.order_id}`)
    await expect(row).toBeVisible()
    await page.goBack()
    await expect(proxies).toBeVisible()
    await page.goForward()
    await expect(row).toBeVisible()
  })

  await test.step('resets its passwords after a question', async () => {
    await chooseByKeyboard(page, menu, 'Reset password')
    await answerByKeyboard(page, 'NO')
    await expect(page.getByText('Request in progress')).toHaveCount(0)
    await chooseByKeyboard(page, menu, 'Reset password')
    await answerByKeyboard(page, 'YES')
    await toast('Request in progress').waitFor()
    await settled(page, shop, order)
  })

  for (const action of ['Check proxy', 'Change proxy'])
    await test.step(action, async () => {
      const asked = page.waitForResponse(/\/(check_proxy|reset_proxy)\//)
      await chooseByKeyboard(page, menu, action)
      if (action === 'Change proxy') await answerByKeyboard(page, 'YES')
      // The message of the action before may still be there.
      expect((await asked).ok()).toBe(true)
      await toast('Request in progress').waitFor()
      await settled(page, shop, order)
      await expect(row).toContainText('8/8')
    })

  await test.step('asks for its delivery', async () => {
    const asked = page.waitForResponse(reply => reply.url().includes('/devery_order/'))
    await chooseByKeyboard(page, menu, 'Deliver')
    expect((await asked).request().method()).toBe('POST')
    await settled(page, shop, order)
  })

  await test.step('copies its proxies', async () => {
    await chooseByKeyboard(page, menu, 'Copy proxy info')
    await toast('Successful replication').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied.split('\n')).toHaveLength(8)
    expect(copied).toMatch(/^127\.10\.\d+\.\d+:\d+:\w+:\w+$/m)
  })

  await test.step('extends it, with a date', async () => {
    await chooseByKeyboard(page, menu, 'Extend expiry')
    const drawer = page.getByRole('dialog', { name: /Extend expiry/ })
    const field = drawer.getByLabel('Expires')
    await field.fill('')
    await field.press('Enter')
    await expect(drawer.getByText('Please select the expire time', { exact: true })).toBeVisible()
    await field.fill('2001-01-01T00:00')
    await field.press('Enter')
    await expect(drawer.getByText('The expire time must lie in the future')).toBeVisible()
    await field.fill(`${new Date().getFullYear() + 2}-03-04T05:06`)
    await field.press('Enter')
    // Nothing is sold for that long: it is asked about.
    await answerByKeyboard(page, 'YES')
    await expect(drawer).toBeHidden()
    await toast('successfully').waitFor()
    await expect(row).toContainText('year')
  })

  await test.step('cannot delete it while it holds proxies', async () => {
    await page.getByRole('button', { name: menu }).focus()
    await page.keyboard.press('Enter')
    await expect(page.locator('[role="menuitem"]:focus')).toHaveCount(1)
    // The last entry.
    await page.keyboard.press('End')
    const entry = page.getByRole('menuitem', { name: 'Delete', description: /^It still holds proxies/ })
    await expect(entry).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await page.keyboard.press('Escape')
    await expect(row).toBeVisible()
  })

  await test.step('exports the orders that are selected, and needs some for a batch', async () => {
    await chooseByKeyboard(page, 'Batch', 'Export')
    await toast('请先选择订单').waitFor()
    await row.focus()
    await page.keyboard.press('x')
    await expect(page.getByText('1 selected')).toBeVisible()
    const download = page.waitForEvent('download')
    await chooseByKeyboard(page, 'Batch', 'Export')
    const file = await download
    expect(file.suggestedFilename()).toMatch(/^orders_\d{8}-\d{6}\.csv$/)
    expect(await readFile(await file.path(), 'utf8')).toContain(order.order_id)
  })

  await test.step('finds the orders of the user whom the address names', async () => {
    await page.goto(`${shop.url}${ORDERS}/${order.username}`)
    await expect(page.getByRole('searchbox')).toHaveValue(order.username)
    await expect(row).toBeVisible()
    await page.goto(`${shop.url}${ORDERS}/nobody`)
    await expect(page.getByText('No order matches')).toBeVisible()
  })
})

test('an administrator adds, edits and deletes gift cards by keyboard', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(shop.url + CARDS)
  await page.getByRole('button', { name: 'Add gift card' }).press('Enter')
  const add = page.getByRole('dialog', { name: 'Add gift card' })
  await expect(add.getByLabel('Amount')).toBeFocused()
  await page.keyboard.press('Enter')
  for (const words of ['Please enter mount', 'Please enter code', 'Please enter point'])
    await expect(add.getByText(words, { exact: true })).toBeVisible()
  await page.keyboard.type('7.5')
  await page.keyboard.press('Tab')
  await page.keyboard.type('KEYBOARD-1')
  await page.keyboard.press('Tab')
  await page.keyboard.type('1200')
  await page.keyboard.press('Enter')
  await expect(add).toBeHidden()
  const row = page.getByRole('row').filter({ hasText: 'KEYBOARD-1' })
  await expect(row).toContainText('$7.50')
  await expect(row).toContainText('1,200')
  await expect(row).toContainText('NO')

  await page.getByRole('button', { name: 'Add gift card' }).press('Enter')
  await add.getByLabel('Amount').fill('5')
  await add.getByLabel('Code').fill('KEYBOARD-1')
  await add.getByLabel('Coins').fill('1')
  await page.keyboard.press('Enter')
  await expect(add.getByRole('alert')).toHaveText('This code already exists')
  await page.keyboard.press('Escape')
  await answerByKeyboard(page, 'YES')
  await expect(add).toBeHidden()

  await row.focus()
  await page.keyboard.press('Enter')
  const edit = page.getByRole('dialog', { name: 'Edit: KEYBOARD-1' })
  await edit.getByLabel('Coins').fill('1300')
  await page.keyboard.press('Enter')
  await expect(edit).toBeHidden()
  await expect(row).toContainText('1,300')

  await page.getByRole('button', { name: 'Delete: KEYBOARD-1' }).press('Enter')
  await answerByKeyboard(page, 'YES')
  await expect(row).toHaveCount(0)
})

test('the view moves back when the last row of its page is deleted', async ({ page, shop }) => {
  const admin = await signedIn(shop, 'admin')
  const { total } = await call<{ total: number }>(admin, 'get', '/api/rewards/gift_card/?limit=1')
  const missing = 11 - (total % 10 === 0 && total > 0 ? 10 : total % 10)
  for (let n = 0; n < missing; n++)
    await call(admin, 'post', '/api/rewards/gift_card/', { mount: '5', code: `FILL-${n}`, point: 1 })
  await admin.dispose()
  const pages = (total + missing - 1) / 10
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CARDS}?page=${pages + 1}`)
  await expect(page.getByRole('row')).toHaveCount(2)
  await page.getByRole('button', { name: /^Delete: / }).press('Enter')
  await answerByKeyboard(page, 'YES')
  await expect(page.getByRole('row')).toHaveCount(11)
  await expect(page).toHaveURL(pages === 1 ? `${shop.url}${CARDS}` : new RegExp(`page=${pages}$`))
})

test('the amount of an order begins below its name in a card', async ({ page, shop }) => {
  const order = await buy(shop, { pay: false })
  await asAdmin(page, shop)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${shop.url}${ORDERS}?search=${order.order_id}`)
  const card = page.getByRole('listitem').filter({ hasText: order.order_id })
  await expect(card.getByText(`$${order.amount}`, { exact: true })).toHaveCSS('align-items', 'flex-start')
})

// Each language, scheme and width once.
const looks = [
  ['en', 'dark', 390],
  ['zh-CN', 'light', 1440]
] as const

for (const [locale, colorScheme, width] of looks) {
  test(`the console is accessible and fits its width: ${locale}, ${colorScheme}, ${width} px`, async ({
    browser,
    shop
  }) => {
    test.setTimeout(180_000)
    const words = await wordsOf(locale)
    const order = await buy(shop)
    // Nothing fades in: half-transparent words would be judged as they are.
    const context = await browser.newContext({
      locale,
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width, height: 900 }
    })
    const page = await context.newPage()
    await asAdmin(page, shop)
    const look = async (what: string) => {
      await page.waitForLoadState('networkidle')
      expect.soft(await violations(page), what).toEqual([])
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
      expect.soft(wide, `${what} is wider than the window`).toBeLessThanOrEqual(0)
    }
    await page.goto(shop.url + ORDERS)
    await expect(page.locator('html')).toHaveAttribute('lang', locale)
    await expect(page.getByText(order.order_id).first()).toBeVisible()
    await look('orders')
    await page.getByRole('button', { name: words('list.filters') }).click()
    await look('filters')
    await page.getByRole('button', { name: words('list.actionsOf', { name: order.order_id }) }).click()
    await expect(page.getByRole('menuitem', { name: words('list.delete') })).toBeVisible()
    await look('menu')
    await page.keyboard.press('Escape')
    for (const menu of [words('views.title'), words('columns.title')]) {
      await page.getByRole('button', { name: menu }).click()
      await expect(page.getByRole('dialog', { name: menu })).toBeVisible()
      await look(menu)
      await page.keyboard.press('Escape')
      await expect(page.getByRole('dialog')).toHaveCount(0)
    }
    await page.goto(`${shop.url}${ORDERS}?open=${order.id}`)
    await expect(page.getByRole('dialog', { name: words('orders.one') })).toContainText(order.order_id)
    await look('drawer')
    await page.goto(`${shop.url}${ORDERS}?form=extend.${order.id}`)
    await expect(page.getByRole('dialog')).toBeVisible()
    await look('extend')
    await page.goto(`${shop.url}/dashboard/index/order/${order.id}`)
    await expect(page.getByRole('region', { name: words('orders.proxies') })).toContainText('127.10.')
    await expect(page.getByRole('region', { name: words('orders.history') })).toContainText(
      words('orders.event.placed')
    )
    await look('order')
    await page.goto(shop.url + CARDS)
    const add = page.getByRole('button', { name: words('gift-cards.add') })
    await expect(add).toBeVisible()
    await look('gift cards')
    await add.click()
    await page.getByRole('button', { name: words('form.add'), exact: true }).click()
    await expect(page.getByText(locale === 'en' ? 'Please enter mount' : '请输入金额')).toBeVisible()
    await look('form with errors')
    await context.close()
  })
}

/** The console's words of a language, as the pages show them. */
async function wordsOf(locale: string): Promise<(key: string, params?: Record<string, string>) => string> {
  const file = new URL(`../apps/web/src/i18n/admin.${locale}.json`, import.meta.url)
  const words = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>
  return (key, params = {}) => {
    const text = words[key]
    if (text === undefined) throw new Error(`no word for ${key}`)
    return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
  }
}
