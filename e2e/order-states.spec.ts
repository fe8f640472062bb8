import type { Order } from '@netlet/contract'
import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { answer, buy, call, said, signedIn } from './console.ts'
import { expect, test, type RunningShop } from './shop.ts'
import { asNewCustomer, inDatabase } from './shopper.ts'

// What becomes of a customer's orders, as their owner sees it: each test with an account of its own.

const AT = '/dashboard/index'

const partOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** Gives the payment of an order back on the platform. */
async function giveBack({ platformUrl }: RunningShop, { order_id }: Order): Promise<void> {
  const all = (await (await fetch(`${platformUrl}/sandbox/orders`)).json()) as {
    id: string
    attributes: { order_id?: string }
  }[]
  const there = all.find(({ attributes }) => attributes.order_id === order_id)
  const reply = await fetch(`${platformUrl}/sandbox/orders/${there?.id}/refund`, { method: 'POST' })
  expect(reply.ok).toBe(true)
}

test('orders that were not paid in time, cancelled, failed, refunded and expired say so, and what to do', async ({
  page,
  shop
}) => {
  const customer = await asNewCustomer(page, shop)
  const own = await signedIn(shop, customer)
  const unpaid = await buy(shop, { by: customer, pay: false })
  await call(own, 'post', `/api/orders/order_list/${unpaid.id}/cancel/`, {})
  const late = await buy(shop, { by: customer, pay: false })
  await inDatabase(shop, `update orders set reserved_until = now() - interval '1 second' where id = $1`, [late.id])
  const failed = await buy(shop, { by: customer, currency: 'EUR' })
  const refunded = await buy(shop, { by: customer })
  const expired = await buy(shop, { by: customer })
  await giveBack(shop, refunded)
  await inDatabase(shop, `update orders set expired_at = now() - interval '1 second' where id = $1`, [expired.id])
  const stateOf = async ({ id }: Order) => {
    const { data } = await call<{ data: Order[] }>(own, 'get', `/api/orders/order_list/?id=${id}&limit=1`)
    return data[0]?.state
  }
  await expect.poll(() => stateOf(refunded)).toBe('refunded')
  await own.dispose()

  const proxies = partOf(page, 'Proxies')
  const states: [order: Order, badge: string, title: string, way: string | null][] = [
    [unpaid, 'Cancelled', 'This order was cancelled', 'Order again'],
    [late, 'Timed out', 'This order was not paid in time', 'Order again'],
    [failed, 'Failed', 'The delivery of this order failed', 'Contact support'],
    [refunded, 'Refunded', 'This order was refunded', 'Order again'],
    [expired, 'Expired', 'This order has expired', null]
  ]
  await page.goto(`${shop.url}${AT}/proxies`)
  for (const [order, badge, title, way] of states)
    await test.step(badge, async () => {
      const row = page
        .getByRole('group', { name: 'Recent orders' })
        .getByRole('row')
        .filter({ hasText: order.order_id })
      await row.getByRole('button', { pressed: false }).first().click()
      await expect(page).toHaveURL(new RegExp(`[?&]order=${order.id}(&|$)`))
      await expect(row.getByText(badge, { exact: true })).toBeVisible()
      await expect(proxies.getByText(title, { exact: true })).toBeVisible()
      if (way) await expect(proxies.getByRole('link', { name: way, exact: true })).toBeVisible()
      for (const name of ['Copy', 'Export', 'Check', 'Client access'])
        await expect(proxies.getByRole('button', { name, exact: true })).toBeDisabled()
      const renews = proxies.getByRole('button', { name: 'Renew', exact: true })
      // What expired is held for a while.
      await (order === expired ? expect(renews).toBeEnabled() : expect(renews).toBeDisabled())
      expect(await violations(page)).toEqual([])
    })
})

test('a customer renews several orders, makes new credentials, and lets clients in by their address', async ({
  page,
  shop
}) => {
  const customer = await asNewCustomer(page, shop)
  const first = await buy(shop, { by: customer })
  const second = await buy(shop, { by: customer })
  await page.goto(`${shop.url}${AT}/proxies?order=${first.id}`)
  const proxies = partOf(page, 'Proxies')
  await expect(proxies.getByRole('row')).toHaveCount(9)

  await test.step('bulk renewal: each order has its own checkout, and says that it was paid', async () => {
    for (const { order_id } of [first, second])
      await page.getByRole('checkbox', { name: `Select order ${order_id}` }).check()
    await expect(page.getByRole('status').filter({ hasText: '2 selected' })).toBeVisible()
    await page.getByRole('button', { name: 'Renew 2 orders' }).click()
    const dialog = page.getByRole('dialog', { name: 'Renew orders' })
    await expect(dialog.getByRole('link', { name: /^Pay now: / })).toHaveCount(2)
    await expect(dialog.getByText(/^These 2 orders together today: \$\d+\.\d\d, before codes$/)).toBeVisible()
    expect(await violations(page)).toEqual([])
    const opened = page.context().waitForEvent('page')
    await dialog.getByRole('link', { name: `Pay now: ${first.order_id}` }).click()
    const checkout = await opened
    await checkout.getByRole('button', { name: /Pay/ }).click()
    await expect(checkout.getByRole('heading', { name: /is paid/ })).toBeVisible()
    await checkout.close()
    await expect(dialog.getByText(/^Paid\. It lasts until .+ now\.$/)).toBeVisible()
    await expect(dialog.getByRole('link', { name: /^Pay now: / })).toHaveCount(1)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await expect(page.getByRole('button', { name: 'Renew 2 orders' })).toHaveCount(0)
  })

  await test.step('new credentials: nothing after NO, others after YES', async () => {
    const row = proxies.getByRole('row').nth(1)
    await proxies.getByRole('button', { name: 'Show passwords' }).click()
    await expect(row).not.toContainText('•')
    const before = await row.innerText()
    const ask = proxies.getByRole('button', { name: /^New password/ })
    const title = 'Make new credentials for this order?'
    await ask.click()
    await answer(page, title, 'NO', 'The present username and password stop working at once. The addresses stay.')
    expect(await row.innerText()).toBe(before)
    await ask.click()
    await said(page, 'New credentials are being made. They appear here by themselves.', () =>
      answer(page, title, 'YES')
    )
    await expect.poll(async () => (await row.innerText()).trim() !== before.trim()).toBe(true)
    await expect(ask).toContainText('9 left')
  })

  await test.step('client access: what is no address is said at its field, what is one is kept', async () => {
    const open = () => proxies.getByRole('button', { name: 'Client access' }).click()
    const dialog = page.getByRole('dialog', { name: 'Who may use these proxies' })
    const kind = dialog.getByRole('combobox', { name: 'Clients are let in by' })
    const list = dialog.getByRole('textbox', { name: 'Addresses' })
    await open()
    await kind.selectOption('Their address, without a password')
    await list.fill('not an address')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(list).toHaveAttribute('aria-invalid', 'true')
    await list.fill('')
    await dialog.getByRole('button', { name: /^Add my present address/ }).click()
    await expect(list).toHaveValue('127.0.0.1')
    await list.fill('203.0.113.7')
    expect(await violations(page)).toEqual([])
    await said(page, 'Saved. It holds within seconds; connections that are not allowed any more end.', () =>
      dialog.getByRole('button', { name: 'Save' }).click()
    )
    await expect(dialog).toBeHidden()
    await page.reload()
    await open()
    await expect(kind).toHaveValue('address')
    await expect(list).toHaveValue('203.0.113.7/32')
  })

  await test.step('client access: what is typed is not lost by the way back, unless that is answered with YES', async () => {
    const dialog = page.getByRole('dialog', { name: 'Who may use these proxies' })
    const list = dialog.getByRole('textbox', { name: 'Addresses' })
    // The way back is one within the page.
    await page.keyboard.press('Escape')
    await page.locator('#side-menu a[href$="/setting"]').click()
    await page.locator('#side-menu a[href$="/proxies"]').first().click()
    await proxies.getByRole('button', { name: 'Client access' }).click()
    await dialog
      .getByRole('combobox', { name: 'Clients are let in by' })
      .selectOption('Their address, without a password')
    const here = page.url()
    await list.fill('203.0.113.8')
    await page.goBack()
    await answer(page, 'Discard the changes?', 'NO')
    await expect(list).toHaveValue('203.0.113.8')
    expect(page.url()).toBe(here)
    await page.goBack()
    await answer(page, 'Discard the changes?', 'YES')
    await expect(dialog).toBeHidden()
    expect(page.url()).not.toBe(here)
  })
})
