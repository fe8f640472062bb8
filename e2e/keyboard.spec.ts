import type { Locator, Page } from '@playwright/test'
import { anOrder, buy, cancelOpen, signIn } from './calls.ts'
import { expect, test } from './shop.ts'

// With animations, because the focus moves while dialogs fade.
test.use({ contextOptions: { reducedMotion: 'no-preference' } })

/** Presses Tab until the target has the focus, at most `most` times. @returns how many times */
async function tabTo(page: Page, target: Locator, most = 60): Promise<number> {
  for (let tabs = 1; tabs <= most; tabs++) {
    await page.keyboard.press('Tab')
    if ((await target.and(page.locator(':focus')).count()) > 0) return tabs
  }
  throw new Error(`${String(target)} cannot be reached with ${most} tabs`)
}

/** Uses the skip link with this text. @returns the number of tabs */
async function skip(page: Page, words: string): Promise<number> {
  const tabs = await tabTo(page, page.getByRole('link', { name: words, exact: true }), 3)
  await page.keyboard.press('Enter')
  return tabs
}

test('a plan is bought by keyboard alone, from the landing page up to its payment', async ({ page, context, shop }) => {
  await test.step('the first Order link of the landing page is three tabs away', async () => {
    await page.goto(shop.url)
    const order = page.getByRole('link', { name: /^Order/ }).first()
    await expect(order).toBeVisible()
    // A first load moves no focus.
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
    const skipped = await skip(page, 'Skip to the plans')
    expect(skipped + (await tabTo(page, order, 3))).toBeLessThanOrEqual(3)
    // The address does not change.
    await expect(page).toHaveURL(`${shop.url}/`)
  })

  await test.step('after a step to another page the focus is at its heading, and its title is told', async () => {
    await signIn(page, shop, 'customer')
    await page.reload()
    const product = page.getByRole('banner').getByRole('link', { name: 'Product' })
    await expect(product).toBeVisible()
    await tabTo(page, product)
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(`${shop.url}/product`)
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
    const title = (await page.title()).replace(' · Netlet', '')
    await expect(page.getByRole('status').filter({ hasText: new RegExp(`^${title}`) })).toHaveCount(1)
  })

  const purchase = page.getByRole('button', { name: 'Purchase' })
  await test.step('the plan and its place', async () => {
    const plan = page.getByRole('link', { name: /Metro ISP/ }).first()
    await expect(plan).toBeVisible()
    await tabTo(page, plan)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { level: 1, name: /Metro ISP/ })).toBeFocused()
    await tabTo(page, page.getByRole('radio', { name: 'New York' }))
    await page.keyboard.press('ArrowRight')
    await expect(page.getByRole('radio', { name: 'London' })).toBeChecked()
    await tabTo(page, purchase)
    await page.keyboard.press('Enter')
  })

  await test.step('the rules; Escape leads back to where they were opened from', async () => {
    const dialog = page.getByRole('dialog', { name: 'Access rules' })
    const search = dialog.getByRole('textbox').or(dialog.getByRole('searchbox'))
    await expect(search).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(dialog).toBeHidden()
    await expect(purchase).toBeFocused()
    await page.keyboard.press('Enter')
    // The dialog takes the focus itself. Keys before that are lost.
    await expect(search).toBeFocused()
    await tabTo(page, dialog.getByRole('checkbox', { name: /Netflix/ }))
    await page.keyboard.press('Space')
    await tabTo(page, dialog.getByRole('button', { name: 'Confirm' }))
    await page.keyboard.press('Enter')
    await expect(dialog).toBeHidden()
    await expect(purchase).toBeFocused()
  })

  await test.step('the payment, which Escape asks about', async () => {
    const opened = context.waitForEvent('page')
    await page.keyboard.press('Enter')
    await (await opened).close()
    const payment = page.getByRole('dialog')
    await expect(payment).toContainText(/(30:00|29:\d\d)/)
    await expect(payment.locator(':focus')).toHaveCount(1)
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog').filter({ has: page.getByRole('button', { name: 'YES' }) })
    await expect(question.getByRole('button', { name: 'NO' })).toBeFocused()
    await tabTo(page, question.getByRole('button', { name: 'YES' }), 5)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(purchase).toBeFocused()
  })
  await cancelOpen(shop)
})

test('the dashboard by keyboard: its parts are skipped to, an order is renewed, and the focus stays', async ({
  page,
  context,
  shop
}) => {
  const order = await buy(shop)
  await signIn(page, shop, 'customer')
  const proxies = page.getByRole('region', { name: 'Proxies' })
  const open = async () => {
    await page.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
    await expect(proxies.getByRole('row')).toHaveCount(9)
  }

  await test.step('skip links', async () => {
    await open()
    await skip(page, 'Skip to the proxies')
    await expect(page.getByRole('group', { name: 'Proxies', exact: true })).toBeFocused()
    await open()
    await skip(page, 'Skip to content')
    await page.keyboard.press('Tab')
    await expect(page.getByRole('button', { name: 'Side menu' })).toBeFocused()
  })

  await test.step('an order is renewed, and its days grow', async () => {
    await open()
    const row = page.getByRole('row').filter({ hasText: order.order_id })
    await expect(row).toContainText(/, (29|30) days/)
    const renew = page.getByRole('button', { name: `Renew ${order.order_id}`, exact: true })
    await skip(page, 'Skip to the orders')
    await page.keyboard.press('Tab')
    await expect(page.getByRole('checkbox', { name: /^Select order/ }).first()).toBeFocused()
    await tabTo(page, renew)
    const opened = context.waitForEvent('page')
    await page.keyboard.press('Enter')
    const checkout = await opened
    const pay = checkout.getByRole('button', { name: /Pay/ })
    await expect(pay).toBeVisible()
    await tabTo(checkout, pay)
    await checkout.keyboard.press('Enter')
    await expect(checkout.getByRole('heading', { name: /is paid|Thank you/i })).toBeVisible()
    await checkout.close()
    await expect(row).toContainText(/, (59|60) days/)
    // Keyboard users need not start over.
    await expect(renew).toBeFocused()
  })

  await test.step('the focus stays at what was asked of an order while that runs', async () => {
    for (const name of ['Check', 'Reset password']) {
      const button = proxies.getByRole('button', { name })
      await expect(button).toBeEnabled()
      const asked = page.waitForResponse(/\/(check_proxy|reset_proxy_password)\//)
      await button.focus()
      await page.keyboard.press('Enter')
      if (name === 'Reset password') await page.getByRole('button', { name: 'YES' }).press('Enter')
      await asked
      await expect(button).toBeFocused()
      await expect(button).toBeEnabled()
      await expect(button).toBeFocused()
    }
  })

  await test.step('a narrower window takes no focus', async () => {
    const full = page.getByRole('button', { name: 'Full screen' })
    await full.focus()
    await page.setViewportSize({ width: 700, height: 900 })
    await expect(page.getByRole('navigation', { name: 'Dashboard' })).toBeHidden()
    await expect(full).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/[?&]full=1$/)
    await expect(page.getByRole('button', { name: 'Leave full screen' })).toBeFocused()
  })
})

test('the console by keyboard: the palette, the menu of a row, its form and its question', async ({ page, shop }) => {
  const order = await anOrder(shop)
  await signIn(page, shop, 'admin')
  await page.goto(`${shop.url}/dashboard/index/home`)
  await expect(page.getByRole('heading', { level: 1, name: 'Home' })).toBeVisible()
  const find = page.getByRole('combobox', { name: 'Go to a screen, or search' })

  await test.step('the palette leads to an order by its number', async () => {
    await expect(async () => {
      await page.keyboard.press('Control+k')
      await expect(find).toBeFocused({ timeout: 1000 })
    }).toPass()
    await page.keyboard.type(order.order_id)
    const found = page.getByRole('option', { name: new RegExp(`^${order.order_id}`) })
    await expect(found).toHaveAttribute('aria-selected', 'true')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(new RegExp(`/order/${order.id}$`))
  })

  await page.goto(`${shop.url}/dashboard/index/orders?search=${order.order_id}`)
  const row = page.getByRole('row').filter({ hasText: order.order_id })
  const button = page.getByRole('button', { name: `Actions: ${order.order_id}` })
  /** Opens the row's menu and selects an entry. */
  const choose = async (entry: string) => {
    await button.focus()
    await page.keyboard.press('Enter')
    const focused = page.locator('[role="menuitem"]:focus')
    // The menu takes the focus itself. Keys before that are lost.
    await expect(focused).toHaveCount(1)
    for (let step = 0; step < 12 && (await focused.innerText()) !== entry; step++)
      await page.keyboard.press('ArrowDown')
    await expect(page.getByRole('menuitem', { name: entry, exact: true })).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(page.getByRole('menu')).toHaveCount(0)
  }

  await test.step('a form gives the focus back to the row that it was opened from', async () => {
    await choose('Extend expiry')
    const form = page.getByRole('dialog', { name: /Extend expiry/ })
    await expect(form.locator(':focus')).toHaveCount(1)
    await page.keyboard.press('Escape')
    await expect(form).toBeHidden()
    await expect(button).toBeFocused()
  })

  await test.step('a question begins at NO, and is answered with YES by two keys', async () => {
    await choose('Reset password')
    const question = page.getByRole('dialog')
    await expect(question.getByRole('button', { name: 'NO' })).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(question).toBeHidden()
    await expect(button).toBeFocused()
    await choose('Reset password')
    await expect(question.getByRole('button', { name: 'NO' })).toBeFocused()
    const asked = page.waitForResponse(/\/reset_proxy_password\//)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect((await asked).ok()).toBe(true)
    // A dialog handles keys until it has faded out.
    await expect(page.locator('[role="dialog"]')).toHaveCount(0)
    await expect(button).toBeFocused()
  })

  await test.step('the row itself: x selects it, and Enter opens it beside the list', async () => {
    await row.focus()
    await page.keyboard.press('x')
    await expect(page.getByText('1 selected')).toBeVisible()
    await page.keyboard.press('Enter')
    await expect(page.getByRole('dialog')).toContainText(order.order_id)
    await page.keyboard.press('Escape')
    await expect(row).toBeFocused()
  })
})
