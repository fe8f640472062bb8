import type { Locator, Page } from '@playwright/test'
import { asCustomer, buy } from './console.ts'
import { expect, test } from './shop.ts'

/** Goes on with Tab until something has the focus, as somebody without a mouse does; at most `most` times. */
async function tabTo(page: Page, target: Locator, most = 60): Promise<number> {
  for (let tabs = 1; tabs <= most; tabs++) {
    await page.keyboard.press('Tab')
    if ((await target.and(page.locator(':focus')).count()) > 0) return tabs
  }
  throw new Error(`${String(target)} cannot be reached with ${most} tabs`)
}

/** Takes the skip link with these words. @returns how many tabs that took */
async function skip(page: Page, words: string): Promise<number> {
  const tabs = await tabTo(page, page.getByRole('link', { name: words, exact: true }), 3)
  await page.keyboard.press('Enter')
  return tabs
}

test('the first Order link of the landing page is three tabs away', async ({ page, shop }) => {
  await page.goto(shop.url)
  const order = page.getByRole('link', { name: /^Order/ }).first()
  await expect(order).toBeVisible()
  const skipped = await skip(page, 'Skip to the plans')
  const further = await tabTo(page, order, 3)
  expect(skipped + further).toBeLessThanOrEqual(3)
  // The address says nothing of it.
  await expect(page).toHaveURL(`${shop.url}/`)
})

test('the menu, the orders and the proxies of the dashboard can be skipped to', async ({ page, shop }) => {
  await buy(shop)
  await asCustomer(page, shop)
  await page.goto(`${shop.url}/dashboard/index/proxies`)
  await expect(page.getByRole('region', { name: 'Proxies' }).getByRole('row')).toHaveCount(9)
  await skip(page, 'Skip to the orders')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('checkbox', { name: /^Select order/ }).first()).toBeFocused()
  await page.reload()
  await expect(page.getByRole('region', { name: 'Proxies' }).getByRole('row')).toHaveCount(9)
  await skip(page, 'Skip to the proxies')
  await expect(page.getByRole('group', { name: 'Proxies', exact: true })).toBeFocused()
  await page.reload()
  await expect(page.getByRole('region', { name: 'Proxies' }).getByRole('row')).toHaveCount(9)
  await skip(page, 'Skip to content')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Side menu' })).toBeFocused()
})

test('after a step to another page the focus is at its heading, and its title is told', async ({ page, shop }) => {
  await page.goto(shop.url)
  await expect(page.getByRole('row').filter({ hasText: 'Metro ISP' })).toBeVisible()
  // The page that was loaded takes nothing.
  expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
  await tabTo(page, page.getByRole('banner').getByRole('link', { name: 'Product' }))
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${shop.url}/product`)
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  const title = (await page.title()).replace(' · Netlet', '')
  await expect(page.getByRole('status').filter({ hasText: title })).toHaveCount(1)

  await asCustomer(page, shop)
  await page.goto(`${shop.url}/dashboard/index/rewards`)
  const menu = page.getByRole('navigation', { name: 'Dashboard' })
  for (const name of ['Settings', 'Invite']) {
    await menu.getByRole('link', { name }).focus()
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { level: 1, name })).toBeFocused()
  }
})

test('a narrower window takes no focus, and a part of the address is no new page', async ({ page, shop }) => {
  await asCustomer(page, shop)
  await page.goto(`${shop.url}/dashboard/index/rewards`)
  const full = page.getByRole('button', { name: 'Full screen' })
  await full.focus()
  await page.setViewportSize({ width: 700, height: 900 })
  await expect(page.getByRole('navigation', { name: 'Dashboard' })).toBeHidden()
  await expect(full).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\?full=1$/)
  await expect(page.getByRole('button', { name: 'Leave full screen' })).toBeFocused()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Leave full screen' })).toBeVisible()
})

test('the focus stays at what was asked of an order while that runs', async ({ page, shop }) => {
  const order = await buy(shop)
  await asCustomer(page, shop)
  await page.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
  const proxies = page.getByRole('region', { name: 'Proxies' })
  await expect(proxies.getByRole('row')).toHaveCount(9)
  for (const name of ['Check', 'New password']) {
    const button = proxies.getByRole('button', { name })
    await expect(button).toBeEnabled()
    const asked = page.waitForResponse(/\/(check_proxy|reset_proxy_password)\//)
    await button.focus()
    await page.keyboard.press('Enter')
    if (name === 'New password') await page.getByRole('button', { name: 'YES' }).press('Enter')
    await asked
    await expect(button).toBeFocused()
    await expect(button).toBeEnabled()
    await expect(button).toBeFocused()
  }
})

test('a plan is bought by keyboard alone, up to its payment', async ({ page, context, shop }) => {
  await asCustomer(page, shop)
  await page.goto(`${shop.url}/product`)
  const plan = page.getByRole('link', { name: /Metro ISP/ }).first()
  await expect(plan).toBeVisible()
  await tabTo(page, plan)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: /Metro ISP/ })).toBeFocused()
  await tabTo(page, page.getByRole('radio', { name: 'New York' }))
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('radio', { name: 'London' })).toBeChecked()
  const purchase = page.getByRole('button', { name: 'Purchase' })
  await tabTo(page, purchase)
  await page.keyboard.press('Enter')

  const dialog = page.getByRole('dialog', { name: 'Access rules' })
  const search = dialog.getByRole('textbox').or(dialog.getByRole('searchbox'))
  await expect(search).toBeFocused()
  // Escape leads back to where it was opened from.
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await expect(purchase).toBeFocused()
  await page.keyboard.press('Enter')
  // The dialog takes the focus itself; a key that comes before that is lost.
  await expect(search).toBeFocused()
  await tabTo(page, dialog.getByRole('checkbox', { name: /Netflix/ }))
  await page.keyboard.press('Space')
  await tabTo(page, dialog.getByRole('button', { name: 'Confirm' }))
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await expect(purchase).toBeFocused()

  const opened = context.waitForEvent('page')
  await page.keyboard.press('Enter')
  const checkout = await opened
  await checkout.close()
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

test('an order is renewed by keyboard alone, and its days grow', async ({ page, context, shop }) => {
  const order = await buy(shop)
  await asCustomer(page, shop)
  await page.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
  const row = page.getByRole('row').filter({ hasText: order.order_id })
  await expect(row).toContainText(/, (29|30) days/)
  const renew = page.getByRole('button', { name: `Renew ${order.order_id}`, exact: true })
  await skip(page, 'Skip to the orders')
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
  // Nobody who goes on with the keyboard has to begin again.
  await expect(renew).toBeFocused()
})
