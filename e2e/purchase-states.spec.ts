import type { PlatformProduct, Product } from '@netlet/contract'
import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { answer, asCustomer, call, signedIn } from './console.ts'
import { expect, test, type RunningShop } from './shop.ts'
import { cancelOpen } from './shopper.ts'

const PROXIES = '/dashboard/index/proxies'

/** Opens a plan that has stock, chooses a rule and orders eight addresses. @returns the payment dialog */
async function order(page: Page, shop: RunningShop) {
  await page.goto(`${shop.url}/product`)
  await page.getByRole('link', { name: /Metro ISP/ }).click()
  await page.getByRole('radio', { name: 'Block of 8' }).check()
  await page.getByRole('button', { name: 'Purchase' }).click()
  const rules = page.getByRole('dialog', { name: 'Access rules' })
  await rules.getByRole('checkbox', { name: /Netflix/ }).check()
  await rules.getByRole('button', { name: 'Confirm' }).click()
  await expect(rules).toBeHidden()
  await page.getByRole('button', { name: 'Purchase' }).click()
  const dialog = page.getByRole('dialog', { name: 'Waiting for your payment' })
  await expect(dialog).toContainText(/(30:00|29:\d\d)/)
  return dialog
}

/** A plan of two places, of which one sells nothing; or both. @returns its address */
async function planWithout(shop: RunningShop, stock: 'here' | 'anywhere', title: string): Promise<string> {
  const made = await fetch(`${shop.platformUrl}/sandbox/products`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      title,
      descriptionHtml: '<p>Walked through</p>',
      tags: ['SEO'],
      optionNames: ['Location'],
      variants: [
        { options: ['Oslo'], price: '4.00' },
        { options: ['London'], price: '4.00' }
      ]
    })
  })
  expect(made.ok).toBe(true)
  const admin = await signedIn(shop, 'admin')
  const { data: sold } = await call<{ data: Product[] }>(admin, 'get', '/api/products/products/?limit=50')
  const group = sold.flatMap(product => product.variants).find(variant => variant.server_group)?.server_group
  const there = await call<PlatformProduct[]>(admin, 'get', '/api/products/products/get_product_from_shopify/')
  const found = there.find(product => product.product_name === title)
  if (!found || !group) throw new Error('there is nothing to sell')
  const variants = found.variants.map(variant => ({
    ...variant,
    cart_step: 8,
    proxy_time: 30,
    server_group: stock === 'here' && variant.variant_option1 === 'London' ? group.id : null
  }))
  const added = await call<Product>(admin, 'post', '/api/products/products/', {
    shopify_product_id: found.shopify_product_id,
    product_name: title,
    variants,
    variant_options: found.variant_options,
    product_tags: found.product_tags.map(tag => tag.id)
  })
  await admin.dispose()
  return `${shop.url}/product?id=${added.id}`
}

test.afterEach(async ({ shop }) => cancelOpen(shop))

test('the dialog says what is paid for; the way to the dashboard opens at 20 minutes, and the time ends', async ({
  page,
  shop
}) => {
  await asCustomer(page, shop)
  await page.clock.install()
  const dialog = await order(page, shop)
  for (const words of ['Metro ISP', 'Block of 8', 'Netflix', 'NL-', 'per IP']) await expect(dialog).toContainText(words)
  expect(await violations(page)).toEqual([])

  await page.clock.fastForward('09:30')
  await expect(dialog.getByRole('button', { name: 'In progress' })).toBeDisabled()
  await page.clock.fastForward('00:40')
  await expect(dialog.getByRole('button', { name: 'Paid, go to dashboard' })).toBeEnabled()
  await expect(dialog.getByRole('button', { name: 'In progress' })).toHaveCount(0)

  await page.clock.fastForward('20:10')
  const over = page.getByRole('dialog', { name: 'Payment timeout' })
  await expect(over.getByText('Payment timeout, please place a new order.', { exact: true })).toBeVisible()
  await expect(page.getByText('Waiting for your payment')).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  await over.getByRole('button', { name: 'Place a new order' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Purchase' })).toBeEnabled()
})

test('closing the dialog asks; it is there again after a reload, and not after YES', async ({ page, shop }) => {
  await asCustomer(page, shop)
  const dialog = await order(page, shop)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await answer(page, 'Close this window?', 'NO', 'You can still pay it from your dashboard')
  await expect(dialog).toBeVisible()
  await page.reload()
  await expect(dialog).toContainText('Metro ISP')
  await page.keyboard.press('Escape')
  const question = page.getByRole('dialog', { name: 'Close this window?' })
  await expect(question).toBeVisible()
  // Escape is NO: the question is not asked again by the dialog below it.
  await page.keyboard.press('Escape')
  await expect(question).toBeHidden()
  await expect(dialog).toBeVisible()
  await page.keyboard.press('Escape')
  await answer(page, 'Close this window?', 'YES')
  await expect(dialog).toBeHidden()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Purchase' })).toBeVisible()
  await expect(dialog).toHaveCount(0)
})

test('where the browser lets no tab open, a link leads to the checkout, and the payment to the live proxies', async ({
  page,
  context,
  shop
}) => {
  await asCustomer(page, shop)
  await page.addInitScript('window.open = () => null')
  const dialog = await order(page, shop)
  await expect(dialog).toContainText('Your browser did not let the checkout open by itself.')
  const opened = context.waitForEvent('page')
  await dialog.getByRole('link', { name: 'Open checkout' }).click()
  const checkout = await opened
  await checkout.getByRole('button', { name: /Pay/ }).click()
  await expect(checkout.getByRole('heading', { name: /is paid/ })).toBeVisible()
  await checkout.close()
  await expect(page).toHaveURL(new RegExp(`^${shop.url}${PROXIES}\\?order=\\d+`))
})

test('offline nothing is ordered, neither at once nor with the connection', async ({ page, context, shop }) => {
  await asCustomer(page, shop)
  const placed: string[] = []
  page.on('request', request => {
    if (request.method() === 'POST' && request.url().endsWith('/api/orders/checkout')) placed.push(request.url())
  })
  await page.goto(`${shop.url}/product`)
  await page.getByRole('link', { name: /Metro ISP/ }).click()
  await page.getByRole('button', { name: 'Purchase' }).click()
  const rules = page.getByRole('dialog', { name: 'Access rules' })
  await rules.getByRole('checkbox', { name: /Netflix/ }).check()
  await rules.getByRole('button', { name: 'Confirm' }).click()
  await expect(rules).toBeHidden()
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Purchase' }).click()
  await expect(page.getByText(/^Failed to create order: You are offline/)).toBeVisible()
  expect(context.pages()).toHaveLength(1)
  await context.setOffline(false)
  await page.waitForLoadState('networkidle')
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await expect(page.getByText(/^Failed to create order/)).toHaveCount(0)
  expect(placed).toEqual([])
})

test('a plan without stock says so, and nobody gets into its dialog', async ({ page, shop }) => {
  const address = await planWithout(shop, 'anywhere', `Nothing left ${Date.now().toString(36)}`)
  await page.goto(address)
  await expect(page.getByRole('button', { name: 'Purchase' })).toBeDisabled()
  await expect(page.getByRole('button', { name: 'Purchase' })).toHaveAccessibleDescription('Out of stock')
  await expect(page.getByRole('button', { name: 'Select rules' })).toBeDisabled()
  await expect(page.getByText('All addresses of this plan are leased at the moment.')).toBeVisible()
  await expect(page.getByRole('region', { name: 'Other plans like this one' })).toBeVisible()
  expect(await violations(page)).toEqual([])
})

test('a sold-out place is marked, and what is chosen stands in the address', async ({ page, shop }) => {
  const address = await planWithout(shop, 'here', `Half left ${Date.now().toString(36)}`)
  await page.goto(address)
  await expect(page.getByRole('radio', { name: 'London', exact: true })).toBeChecked()
  await page.getByRole('radio', { name: 'Oslo Out of stock' }).check()
  await expect(page.getByRole('button', { name: 'Purchase' })).toBeDisabled()
  await expect(page).toHaveURL(`${address}&o1=Oslo`)
  await page.getByRole('radio', { name: 'London', exact: true }).check()
  await page.getByRole('button', { name: '32', exact: true }).click()
  await page.getByRole('button', { name: 'Purchase' }).click()
  const rules = page.getByRole('dialog', { name: 'Access rules' })
  await rules.getByRole('checkbox', { name: /Netflix/ }).check()
  await rules.getByRole('checkbox', { name: /Walmart/ }).check()
  expect(await violations(page)).toEqual([])
  await rules.getByRole('button', { name: 'Confirm' }).click()
  await expect(rules).toBeHidden()
  const chips = page.getByRole('list', { name: 'Your access rules' }).getByRole('listitem')
  await expect(chips).toHaveCount(2)
  // In whatever order.
  for (const part of [/[?&]o1=London(&|$)/, /[?&]acl=\d+%2C\d+(&|$)/, /[?&]q=32(&|$)/])
    await expect(page).toHaveURL(part)
  const total = await page.getByText(/^32 × \$/).innerText()

  // A look at another page and back, and a reload, keep all of it.
  await page.getByRole('contentinfo').getByRole('link', { name: 'Status' }).click()
  await expect(page).toHaveURL(`${shop.url}/status`)
  await page.goBack()
  await expect(chips).toHaveCount(2)
  await page.reload()
  await expect(chips).toHaveCount(2)
  await expect(page.getByText(total)).toBeVisible()
  expect(await violations(page)).toEqual([])
})
