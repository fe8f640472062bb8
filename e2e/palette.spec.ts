import type { Faq } from '@netlet/contract'
import { violations } from './axe.ts'
import { answerByKeyboard, asAdmin, buy, call, signedIn } from './console.ts'
import { expect, test } from './shop.ts'

const INDEX = '/dashboard/index'

test('the palette leads from an order number and an address to the order, and does what the page can do', async ({
  page,
  shop
}) => {
  test.setTimeout(180_000)
  const order = await buy(shop)
  const admin = await signedIn(shop, 'admin')
  const { proxy_lines: lines } = await call<{ proxy_lines: string[] }>(
    admin,
    'get',
    `/api/orders/order_list/${order.id}/copy_proxies/`
  )
  await admin.dispose()
  const [address = ''] = /\d+(\.\d+){3}/.exec(lines[0] ?? '') ?? []
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${INDEX}/giftcard`)
  await expect(page.getByRole('heading', { name: 'Gift Card' })).toBeVisible()
  const input = page.getByRole('combobox', { name: 'Go to a screen, or search' })
  const ask = async (text: string) => {
    await expect(async () => {
      await page.keyboard.press('Control+k')
      await expect(input).toBeFocused({ timeout: 1000 })
    }).toPass()
    await page.keyboard.type(text)
  }
  await ask(order.order_id)
  await expect(page.getByRole('option', { name: new RegExp(`^${order.order_id}`) })).toHaveAttribute(
    'aria-selected',
    'true'
  )
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(`${INDEX}/order/${order.id}$`))
  await expect(page.getByRole('heading', { name: order.order_id })).toBeVisible()

  await ask('extend')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: new RegExp(order.order_id) })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await page.goto(`${shop.url}${INDEX}/servers`)
  await expect(page.getByRole('heading', { name: 'Server Manage' })).toBeVisible()
  await ask(address)
  await expect(page.getByRole('option', { name: new RegExp(`${order.order_id}.*holds ${address} now`) })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(`${INDEX}/order/${order.id}$`))

  // Recently visited first, and a button for those without a Ctrl key.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Go to a screen, or search' }).click()
  await expect(input).toBeFocused()
  await expect(page.getByRole('group', { name: 'Recently visited' }).getByRole('option').first()).toHaveText(
    'Server Manage'
  )
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  expect(await violations(page)).toEqual([])
})

test('a deleted question comes back by Undo, with the keyboard alone', async ({ page, shop }) => {
  const admin = await signedIn(shop, 'admin')
  const faq = await call<Faq>(admin, 'post', '/api/tickets/fqa/', { question: 'Zebra?', answer: 'Exactly' })
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${INDEX}/QA?search=Zebra`)
  await page.getByRole('button', { name: 'Delete: Zebra?' }).press('Enter')
  await answerByKeyboard(page, 'YES')
  const undo = page.getByRole('button', { name: 'Undo', exact: true })
  await expect(undo).toBeVisible()
  await expect(page.getByRole('row', { name: /Zebra/ })).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  await undo.press('Enter')
  await expect(page.getByText('Undone', { exact: true })).toBeVisible()
  await expect(page.getByRole('row', { name: /Zebra/ })).toHaveCount(1)
  const { data } = await call<{ data: Faq[] }>(admin, 'get', '/api/tickets/fqa/?search=Zebra')
  expect(data).toEqual([faq])
  await admin.dispose()
})
