import { asAdmin, buy, said } from './console.ts'
import { expect, test } from './shop.ts'

test('an administrator views the shop as a user and comes back, and every tab follows', async ({ browser, shop }) => {
  const context = await browser.newContext({ locale: 'en' })
  const page = await context.newPage()
  await asAdmin(page, shop)
  const other = await context.newPage()
  await other.goto(`${shop.url}/dashboard/index/orders`)
  await expect(other.getByRole('heading', { name: 'Orders', level: 1 })).toBeVisible()

  await page.goto(`${shop.url}/dashboard/index/userList?search=${shop.customer.username}`)
  await page.getByRole('button', { name: `Actions: ${shop.customer.username}` }).click()
  await page.getByRole('menuitem', { name: 'Switch to User' }).click()
  await said(page, 'Switch user successfully', () => page.getByRole('button', { name: 'YES' }).click())
  await expect(page).toHaveURL(`${shop.url}/`)
  const banner = `you are viewing the shop as ${shop.customer.username}`
  await expect(page.getByText(banner)).toBeVisible()
  await expect(other.getByText(banner)).toBeVisible()
  // The console is none of the user's: the tab that showed it is at home, too.
  await expect(other).toHaveURL(`${shop.url}/`)
  for (const path of ['/product', '/support', '/dashboard/index/setting', '/no-such-page']) {
    await page.goto(shop.url + path)
    await expect(page.getByText(banner), path).toBeVisible()
  }

  await other.getByRole('button', { name: `Back to ${shop.admin.username}` }).click()
  await expect(other.getByRole('heading', { name: 'Orders', level: 1 })).toBeVisible()
  await expect(page.getByText(banner)).toBeHidden()
  await expect(page.getByRole('button', { name: shop.admin.username })).toBeVisible()
  await other.getByRole('link', { name: 'User Manage' }).click()
  const itsPage = other.getByRole('link', { name: shop.customer.username, exact: true })
  // The orders, with a link to their user each, stay until the users are there.
  await expect(itsPage).toHaveCount(1)
  await itsPage.click()
  await other.getByRole('tab', { name: 'Audit log' }).click()
  await expect(other.getByText('Viewed the shop as a user', { exact: true })).toBeVisible()
  await context.close()
})

test('an administrator changes coins and reads what a user has', async ({ browser, shop }) => {
  const order = await buy(shop)
  const context = await browser.newContext({ locale: 'en' })
  const page = await context.newPage()
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/orders`)
  await page.getByRole('link', { name: shop.customer.username }).first().click()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/userList?search=${shop.customer.username}`)
  await page.getByRole('button', { name: `Actions: ${shop.customer.username}` }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: `Edit: ${shop.customer.username}` })
  await expect(dialog.getByLabel('Coins')).toBeVisible()
  await page.mouse.click(5, 400)
  await expect(dialog).toBeVisible()
  // More than anybody has: what was bought before may have brought coins.
  await dialog.getByLabel('Coins').fill('-100000000')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText('Please enter points')).toBeVisible()
  await dialog.getByLabel('Coins').fill('+50')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toBeHidden()

  await page.getByRole('link', { name: shop.customer.username, exact: true }).click()
  await page.getByRole('tab', { name: 'Orders' }).click()
  await expect(page.getByRole('link', { name: order.order_id })).toBeVisible()
  await page.getByRole('tab', { name: 'Payments' }).click()
  await expect(page.getByRole('link', { name: order.order_id })).toBeVisible()
  await page.getByRole('tab', { name: 'Points and coins' }).click()
  await expect(page.getByText('Set by an administrator')).toBeVisible()
  await page.getByRole('tab', { name: 'Logins' }).click()
  await expect(page.getByText('127.0.0.1').first()).toBeVisible()
  await page.goBack()
  await expect(page).toHaveURL(/tab=points/)
  await context.close()
})
