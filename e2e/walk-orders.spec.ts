import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { answer, asAdmin, buy, choose, failing, said } from './console.ts'
import { expect, test } from './shop.ts'

const ORDERS = '/dashboard/index/orders'
const rowOf = (page: Page, number: string) => page.getByRole('row').filter({ hasText: number })
const batch = async (page: Page, entry: string) => {
  await page.getByRole('button', { name: 'Batch' }).click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}

test('orders: the username of the route is searched for, and what fails is said in the words of the specification', async ({
  page,
  shop
}) => {
  const order = await buy(shop)
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${ORDERS}/${order.username}`)
  await expect(page.getByRole('heading', { name: 'Orders', level: 1 })).toBeVisible()
  const search = page.getByRole('searchbox', { name: 'Order, user or product' })
  await expect(search).toHaveValue(order.username)
  await expect(rowOf(page, order.order_id)).toBeVisible()
  for (const card of [
    'Orders',
    'Paid',
    'Unpaid',
    'Today (UTC)',
    'Revenue',
    'This month (UTC)',
    "Today's revenue (UTC)"
  ])
    await expect(page.getByRole('term').filter({ hasText: card }).first()).toBeVisible()

  const ends = [
    await failing(page, /\/api\/orders\/order_list\//),
    await failing(page, /\/api\/orders\/statistics/, { lost: true })
  ]
  await search.fill(order.order_id)
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  const failed = page.getByRole('alert').filter({ hasText: '搜索失败' })
  await expect(failed).toBeVisible()
  await page.reload()
  await expect(failed).toBeVisible()
  const figures = page.getByRole('alert').filter({ hasText: '获取订单统计数据失败' })
  await expect(figures).toBeVisible()
  for (const end of ends) await end()
  await failed.getByRole('button', { name: 'Try again' }).click()
  await figures.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
  await expect(page.getByText('Revenue', { exact: true })).toBeVisible()

  await rowOf(page, order.order_id).getByRole('link', { name: order.username }).click()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/userList?search=${order.username}`)
  await expect(page.getByRole('link', { name: order.username, exact: true })).toBeVisible()
})

test('orders: one that was paid and not delivered is highlighted, and is delivered after the question', async ({
  page,
  shop
}) => {
  const good = await buy(shop)
  const failed = await buy(shop, { currency: 'EUR' })
  await asAdmin(page, shop)
  await page.goto(shop.url + ORDERS)
  const row = rowOf(page, failed.order_id)
  await expect(row).toHaveAttribute('data-problem')
  await expect(rowOf(page, good.order_id)).not.toHaveAttribute('data-problem')
  const plain = 'rgba(0, 0, 0, 0)'
  await expect(row).not.toHaveCSS('background-color', plain)
  await expect(rowOf(page, good.order_id)).toHaveCSS('background-color', plain)
  await page.getByRole('checkbox', { name: `Select ${good.order_id}` }).check()
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect(await violations(page), colorScheme).toEqual([])
  }

  await choose(page, failed.order_id, 'Deliver')
  await answer(page, 'Deliver what was not paid for?', 'NO', failed.order_id, 'EUR')
  await expect(row).toHaveAttribute('data-problem')
  await choose(page, failed.order_id, 'Deliver')
  await answer(page, 'Deliver what was not paid for?', 'YES')
  await said(page, 'Request in progress')
  await expect(row).toContainText('8/8')
  await expect(row).not.toHaveAttribute('data-problem')

  // A quick look beside the list, and the page in its place, with the way back.
  await row.getByRole('cell').nth(3).click()
  const drawer = page.getByRole('dialog', { name: 'Order' })
  await expect(drawer).toContainText(failed.email)
  await drawer.getByRole('button', { name: "Open the order's page" }).click()
  await expect(page.getByRole('region', { name: 'Proxies' }).getByRole('row')).toHaveCount(9)
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await expect(row).toBeVisible()
})

test('orders: each action of a row asks, does nothing after NO, and says what came of it', async ({
  page,
  context,
  shop
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.url })
  const order = await buy(shop)
  const unpaid = await buy(shop, { pay: false })
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${ORDERS}?search=${order.username}`)
  const row = rowOf(page, order.order_id)
  const asked: string[] = []
  page.on('request', one => one.method() !== 'GET' && asked.push(`${one.method()} ${new URL(one.url()).pathname}`))
  const made = (path: string) => asked.filter(one => one.endsWith(path)).length

  for (const [entry, title, path] of [
    ['Reset password', 'Reset the passwords?', '/reset_proxy_password/'],
    ['Change proxy', 'Change the proxies?', '/reset_proxy/']
  ] as const) {
    await choose(page, order.order_id, entry)
    await answer(page, title, 'NO', order.order_id)
    expect(made(path)).toBe(0)
    await expect(page.getByText('Request in progress')).toHaveCount(0)
    await choose(page, order.order_id, entry)
    await answer(page, title, 'YES')
    await said(page, 'Request in progress')
    expect(made(path)).toBe(1)
    await expect(row).toContainText('8/8')
    await page.getByRole('button', { name: `Actions: ${order.order_id}` }).click()
    await expect(page.getByRole('menuitem', { name: entry })).toBeEnabled()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('menu')).toHaveCount(0)
  }

  await choose(page, order.order_id, 'Copy proxy info')
  await said(page, 'Successful replication')
  const end = await failing(page, /\/copy_proxies\//)
  await choose(page, order.order_id, 'Copy proxy info')
  await said(page, 'Replication failure')
  await end()

  await choose(page, order.order_id, 'Extend expiry')
  const form = page.getByRole('dialog', { name: `Extend expiry: ${order.order_id}` })
  await form.getByLabel('Expires').fill('')
  await form.getByRole('button', { name: 'Extend expiry' }).click()
  await expect(form.getByText('Please select the expire time', { exact: true })).toBeVisible()
  await form.getByLabel('Expires').fill(new Date(Date.now() + 60 * 86_400_000).toISOString().slice(0, 16))
  await form.getByRole('button', { name: 'Extend expiry' }).click()
  await said(page, 'successfully')
  await expect(form).toBeHidden()

  await page.getByRole('button', { name: `Actions: ${order.order_id}`, exact: true }).click()
  await expect(page.getByRole('menuitem', { name: 'Delete', description: /^It still holds proxies/ })).toBeDisabled()
  await page.keyboard.press('Escape')
  await choose(page, unpaid.order_id, 'Cancel unpaid order')
  await answer(page, 'Cancel this order?', 'YES')
  await said(page, 'Cancelled')
  await choose(page, unpaid.order_id, 'Delete')
  await answer(page, 'Confirm deletion', 'NO', 'Delete ?')
  await expect(rowOf(page, unpaid.order_id)).toBeVisible()
  await choose(page, unpaid.order_id, 'Delete')
  await answer(page, 'Confirm deletion', 'YES')
  await said(page, 'successfully')
  await expect(rowOf(page, unpaid.order_id)).toHaveCount(0)
})

test('orders: batches need a selection, ask, and say what failed; the export has a name with a timestamp', async ({
  page,
  shop
}) => {
  const order = await buy(shop)
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${ORDERS}?search=${order.order_id}`)
  await expect(rowOf(page, order.order_id)).toBeVisible()
  for (const entry of ['Reset proxies', 'Export']) {
    await batch(page, entry)
    await said(page, '请先选择订单')
  }
  await page.getByRole('checkbox', { name: `Select ${order.order_id}` }).check()
  await expect(page.getByText('1 selected')).toBeVisible()

  let end = await failing(page, /\/api\/orders\/export/, { method: 'POST' })
  await batch(page, 'Export')
  await said(page, '导出订单数据失败')
  await end()
  const download = page.waitForEvent('download')
  await batch(page, 'Export')
  expect((await download).suggestedFilename()).toMatch(/^orders_\d{8}-\d{6}\.csv$/)

  const runs = /\/api\/bulk\/?$/
  end = await failing(page, runs, { method: 'POST' })
  await batch(page, 'Reset proxies')
  await answer(page, 'Start this for 1 order?', 'NO')
  await expect(page.getByText('1 selected')).toBeVisible()
  await batch(page, 'Reset proxies')
  await answer(page, 'Start this for 1 order?', 'YES')
  await said(page, '批量重置代理失败')
  await end()

  // A page of another version asks for what this shop does not know.
  await page.route(runs, route =>
    route.continue({ postData: (route.request().postData() ?? '').replace('"order.change"', '"order.unheard"') })
  )
  await batch(page, 'Reset proxies')
  await answer(page, 'Start this for 1 order?', 'YES')
  await said(page, '未知操作类型')
  await page.unroute(runs)

  await batch(page, 'Reset proxies')
  await answer(page, 'Start this for 1 order?', 'YES')
  await expect(page.getByRole('region', { name: 'Bulk action' })).toContainText('1 of 1 done, 0 refused')
})
