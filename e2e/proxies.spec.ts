import { readFile } from 'node:fs/promises'
import { violations } from './axe.ts'
import { asCustomer, buy, call, signedIn } from './console.ts'
import { expect, test } from './shop.ts'

test.beforeEach(async ({ page, context, shop }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.url })
  await asCustomer(page, shop)
})

test('a customer labels an order, finds its proxies and takes them out in the format of its program', async ({
  page,
  shop
}) => {
  const order = await buy(shop)
  await page.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
  const row = page.getByRole('row').filter({ hasText: order.order_id })
  const proxies = page.getByRole('region', { name: 'Proxies' })
  const tools = proxies.getByRole('group', { name: 'Use the proxies' })
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')

  await test.step('labels it where it stands, and the label is there after a reload', async () => {
    await row.getByRole('button', { name: /^Add a label/ }).click()
    await page.getByRole('textbox', { name: `Label of order ${order.order_id}` }).fill('Crawler  one')
    await page.keyboard.press('Enter')
    await expect(row.getByRole('button', { name: 'Edit the label Crawler one' })).toBeVisible()
    await page.reload()
    await expect(row.getByRole('button', { name: 'Edit the label Crawler one' })).toBeVisible()
    await expect(row).toContainText(/, (29|30) days/)
  })

  await test.step('sees no password until it asks for it, and copies them all the same', async () => {
    await expect(proxies.getByRole('row')).toHaveCount(9)
    await page.getByRole('combobox', { name: 'Format' }).selectOption('http://user:pass@ip:port')
    await tools.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Copied to clipboard!').waitFor()
    const lines = (await clipboard()).split('\n')
    expect(lines).toHaveLength(8)
    const { username, password, hostname } = new URL(lines[0] ?? '')
    const shown = proxies.getByRole('row').filter({ hasText: `${hostname}:` })
    await expect(shown).toContainText(username)
    await expect(shown).not.toContainText(password)
    await shown.getByRole('button', { name: /^Show the password/ }).click()
    await expect(shown).toContainText(password)
  })

  await test.step('finds one by its address, and exports only the selected', async () => {
    const address = (await clipboard()).split('\n')[3]?.split('@')[1] ?? ''
    await page.getByRole('searchbox', { name: 'Find an address' }).fill(address.split(':')[0] ?? '')
    await expect(proxies.getByRole('row')).toHaveCount(2)
    await page.getByRole('checkbox', { name: `Select ${address}` }).check()
    await page.getByRole('combobox', { name: 'Format' }).selectOption('csv')
    const download = page.waitForEvent('download')
    await tools.getByRole('button', { name: 'Export 1' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe(`order_${order.id}_proxies.csv`)
    const [head, line, ...rest] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
    expect(head).toBe('ip,port,username,password')
    expect(line).toMatch(new RegExp(`^${address.replace(':', ',')},\\w+,\\w+$`))
    expect(rest).toEqual([])
  })

  await test.step('the format is remembered, and no state of the page is inaccessible', async () => {
    await page.reload()
    await expect(page.getByRole('combobox', { name: 'Format' })).toHaveValue('csv')
    await page.getByRole('combobox', { name: 'Format' }).selectOption('template')
    await expect(page.getByRole('status', { name: 'Preview' })).toContainText('127.10.')
    expect(await violations(page)).toEqual([])
    await tools.getByRole('button', { name: 'Code' }).click()
    await expect(page.getByRole('dialog', { name: 'Use a proxy' })).toContainText("curl -x 'http://")
    expect(await violations(page)).toEqual([])
  })
})

test('after a payment the page says how far it is, and that the proxies are live', async ({ page, shop }) => {
  const order = await buy(shop)
  await page.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}&live=1`)
  await expect(page.getByRole('heading', { name: '8 proxies are live' })).toBeVisible()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
  expect(await violations(page)).toEqual([])
  await page.reload()
  await expect(page.getByRole('region', { name: 'Proxies' }).getByRole('row')).toHaveCount(9)
  await expect(page.getByRole('heading', { name: '8 proxies are live' })).toBeHidden()
})

test('a customer changes the addresses of an order as often as the operator allows', async ({ page, shop }) => {
  const admin = await signedIn(shop, 'admin')
  const allow = (count: number) => call(admin, 'post', '/api/settings/config', { customer_changes_per_term: count })
  await allow(1)
  const order = await buy(shop)
  await page.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
  const proxies = page.getByRole('region', { name: 'Proxies' })
  await expect(proxies.getByRole('row')).toHaveCount(9)
  const addresses = async () =>
    (await proxies.getByRole('row').allInnerTexts()).map(text => /127[\d.]+/.exec(text)?.[0])
  const before = await addresses()
  await proxies.getByRole('button', { name: /^Change addresses/ }).click()
  const question = page.getByRole('dialog', { name: 'Change the addresses of this order?' })
  await expect(question).toContainText('The present addresses stop working')
  await expect(question).toContainText('Left in this term: 1.')
  await question.getByRole('button', { name: 'YES' }).click()
  await expect
    .poll(async () => (await addresses()).filter(address => address && before.includes(address)), { timeout: 30_000 })
    .toEqual([])
  await expect(proxies.getByRole('row')).toHaveCount(9)
  await expect(proxies.getByRole('button', { name: 'Change addresses 0 left' })).toBeDisabled()
  await allow(0)
  await admin.dispose()
})

test('on a phone a tapped order has its proxies in view, and Pay now takes a finger', async ({ page, shop }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const order = await buy(shop)
  await buy(shop, { pay: false })
  await page.goto(`${shop.url}/dashboard/index/proxies`)
  const pay = page.getByRole('list', { name: 'Recent orders' }).getByRole('link', { name: 'Pay now' })
  await expect(pay).toBeVisible()
  expect((await pay.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  const card = page.getByRole('listitem').filter({ hasText: order.order_id })
  await card.locator('button[aria-pressed]').click()
  await expect(page.getByRole('heading', { name: 'Proxies', level: 2 })).toBeFocused()
  await expect(page.getByRole('heading', { name: 'Proxies', level: 2 })).toBeInViewport()
  const first = page.getByRole('list', { name: 'Proxies' }).getByRole('listitem').first()
  await first.getByRole('button', { name: /^Show the password/ }).click()
  // In one line.
  expect((await first.locator('[data-password]').boundingBox())?.height).toBeLessThan(30)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0)
})
