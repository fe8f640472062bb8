import { violations } from './axe.ts'
import { answerByKeyboard, asAdmin, buy, call, chooseByKeyboard, signedIn } from './console.ts'
import { expect, test } from './shop.ts'

const ORDERS = '/dashboard/index/orders'
const CARDS = '/dashboard/index/giftcard'

test('a bulk run over orders is watched, survives a reload, and says what became of each', async ({ page, shop }) => {
  test.setTimeout(180_000)
  const paid = await buy(shop)
  const unpaid = await buy(shop, { pay: false })
  await asAdmin(page, shop)
  await page.goto(shop.url + ORDERS)
  for (const { order_id } of [paid, unpaid]) {
    await page.getByRole('row').filter({ hasText: order_id }).focus()
    await page.keyboard.press('x')
  }
  await expect(page.getByText('2 selected')).toBeVisible()
  await chooseByKeyboard(page, 'Batch', 'Reset passwords')
  await answerByKeyboard(page, 'YES')
  const panel = page.getByRole('region', { name: 'Bulk action' })
  await expect(panel).toContainText('2 of 2 done, 1 refused')
  await expect(page).toHaveURL(/run=\d+/)
  await expect(panel).toContainText('This order has not been paid')
  await page.reload()
  await expect(panel).toContainText('2 of 2 done, 1 refused')
  expect(await violations(page)).toEqual([])
  await panel.getByRole('combobox', { name: 'Which results' }).selectOption('refused')
  await expect(panel.getByRole('listitem')).toHaveCount(1)
  await expect(panel.getByRole('listitem')).toContainText(unpaid.order_id)
  await panel.getByRole('button', { name: 'Close' }).press('Enter')
  await expect(panel).toBeHidden()
})

test('all gift cards that match a search are deleted in one run', async ({ page, shop }) => {
  const admin = await signedIn(shop, 'admin')
  for (let n = 0; n < 23; n++)
    await call(admin, 'post', '/api/rewards/gift_card/', { mount: '5', code: `BULK-${n}`, point: 1 })
  await admin.dispose()
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CARDS}?search=BULK-`)
  await page.getByRole('checkbox', { name: 'Select this page' }).press('Space')
  await page.getByRole('button', { name: 'Select all 23 that match' }).press('Enter')
  await expect(page.getByText('23 selected')).toBeVisible()
  await chooseByKeyboard(page, 'Batch', 'Delete')
  const number = page.getByRole('textbox', { name: 'Type 23 to go on' })
  await expect(number).toBeFocused()
  await page.keyboard.type('23')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Bulk action' })).toContainText('23 of 23 done, 0 refused')
  await expect(page.getByText('No gift card matches')).toBeVisible()
})

test('columns and views are kept for the person', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(shop.url + CARDS)
  const coins = page.getByRole('columnheader', { name: 'Coins' })
  await expect(coins).toBeVisible()
  await page.getByRole('button', { name: 'Columns' }).press('Enter')
  const saved = page.waitForResponse(reply => reply.request().method() === 'PUT')
  await page.getByRole('checkbox', { name: 'Coins' }).press('Space')
  expect((await saved).ok()).toBe(true)
  await page.reload()
  await expect(page.getByRole('columnheader', { name: 'Code' })).toBeVisible()
  await expect(coins).toBeHidden()

  await page.goto(`${shop.url}${CARDS}?is_exchanged=0&sort=mount.asc`)
  await page.getByRole('button', { name: 'Views' }).press('Enter')
  const kept = page.waitForResponse(reply => reply.request().method() === 'PUT')
  await page.getByRole('textbox', { name: 'Name of the view' }).fill('Cheapest')
  await page.keyboard.press('Enter')
  expect((await kept).ok()).toBe(true)
  await page.goto(shop.url + CARDS)
  await page.getByRole('button', { name: 'Views' }).press('Enter')
  await page.getByRole('button', { name: 'Cheapest', exact: true }).press('Enter')
  await expect(page).toHaveURL(/is_exchanged=0/)
  await expect(page).toHaveURL(/sort=mount\.asc/)
  const amounts = page.getByRole('row').filter({ hasText: '$' })
  await expect(async () => {
    const texts = await amounts.allInnerTexts()
    const values = texts.map(text => Number(/\$([\d.,]+)/.exec(text)?.[1]?.replaceAll(',', '')))
    expect(values.length).toBeGreaterThan(1)
    expect(values).toEqual(values.toSorted((a, b) => a - b))
  }).toPass()

  // The tests after this one, in the same shop, see all columns again.
  const reset = await page.request.put(`${shop.url}/api/users/preferences/list.gift-cards`, { data: { value: null } })
  expect(reset.ok()).toBe(true)
})

test('a list is downloaded as CSV, with its search and filters', async ({ page, shop }) => {
  const order = await buy(shop)
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${ORDERS}?search=${order.order_id}&pay_status=1`)
  const link = page.getByRole('link', { name: 'CSV' })
  const download = page.waitForEvent('download')
  await link.press('Enter')
  expect((await download).suggestedFilename()).toMatch(/^orders_[\dT-]+\.csv$/)
  const reply = await page.request.get(shop.url + ((await link.getAttribute('href')) ?? ''))
  expect(reply.headers()['content-type']).toContain('text/csv')
  const lines = (await reply.text()).trim().split(/\r?\n/)
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain(order.order_id)
})
