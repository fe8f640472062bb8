import { readFile } from 'node:fs/promises'
import { curl, proxyUrl } from './curl.ts'
import { mailTo, pay, signUp } from './shopper.ts'
import { expect, test } from './shop.ts'

test('a newcomer signs up with an account of the chat platform, buys a plan and uses the proxy', async ({
  page,
  context,
  shop
}) => {
  const { platformUrl, url } = shop
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })

  await test.step('the landing page shows collections and plans with prices and stock', async () => {
    await page.goto(url)
    await expect(page.getByRole('heading', { name: 'ISP Proxies' })).toBeVisible()
    const row = page.getByRole('row').filter({ hasText: 'Metro ISP' })
    await expect(row).toContainText('available')
    await expect(row).toContainText('$2.12')
  })

  await test.step('signs up with an account of the chat platform', async () => {
    await page.getByRole('banner').getByRole('link', { name: 'Login' }).click()
    await page.getByRole('tab', { name: 'Discord' }).click()
    await page.getByRole('button', { name: /Discord/ }).click()
    await expect(page.getByRole('heading', { name: 'Who are you today?' })).toBeVisible()
    await page.getByRole('textbox', { name: 'User name' }).fill('walker.one')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page).toHaveURL(/\/createAccount\?discord_id=\d+&discord_name=walker\.one&username=walkerone$/)
    await signUp(page, shop, 'walker1')
  })

  await test.step('picks a variant and access rules with live stock and price', async () => {
    await page.getByRole('link', { name: /Metro ISP/ }).click()
    await page.getByRole('radio', { name: 'London' }).check()
    await page.getByRole('radio', { name: 'Block of 8' }).check()
    await page.getByRole('button', { name: 'Purchase' }).click()
    const dialog = page.getByRole('dialog', { name: 'Access rules' })
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByText('Please select', { exact: true })).toBeVisible()
    await dialog.getByRole('checkbox', { name: /Netflix/ }).check()
    await dialog.getByRole('checkbox', { name: /Walmart/ }).check()
    await expect(dialog).toContainText('Per IP with 2 selected: $2.47')
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await expect(dialog).toBeHidden()
    // The choice is in the address and survives a reload.
    for (const part of [/[?&]o1=London(&|$)/, /[?&]acl=\d+%2C\d+(&|$)/]) await expect(page).toHaveURL(part)
    await page.reload()
    await expect(page.getByRole('list', { name: 'Your access rules' }).getByRole('listitem')).toHaveCount(2)
    await expect(page.getByRole('region', { name: 'Your order' }).getByText('$19.76')).toBeVisible()
  })

  await test.step('pays on the platform in a new tab, after a reload of the page that waits', async () => {
    const opened = context.waitForEvent('page')
    await page.getByRole('button', { name: 'Purchase' }).click()
    const checkout = await opened
    const countdown = page.getByRole('dialog', { name: 'Waiting for your payment' })
    await expect(countdown).toContainText(/(30:00|29:\d\d)/)
    await expect(countdown.getByRole('button', { name: 'In progress' })).toBeDisabled()
    await page.reload()
    await expect(countdown).toContainText('Metro ISP')
    await checkout.waitForURL(`${platformUrl}/checkouts/**`)
    await pay(checkout)
  })

  let line = ''
  await test.step('lands on the proxies page and sees, copies and exports the delivered proxies', async () => {
    await expect(page).toHaveURL(/\/dashboard\/index\/proxies(\?|$)/)
    const order = page.getByRole('row').filter({ hasText: 'Metro ISP' }).first()
    await expect(order).toContainText('Active')
    const proxies = page.getByRole('region', { name: 'Proxies' })
    await expect(proxies.getByRole('row')).toHaveCount(9)
    const tools = proxies.getByRole('group', { name: 'Use the proxies' })
    await tools.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Copied to clipboard!').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied.split('\n')).toHaveLength(8)
    line = copied.split('\n')[0] ?? ''
    expect(line).toMatch(/^127\.10\.\d+\.\d+:\d+:\w+:\w+$/)

    const download = page.waitForEvent('download')
    await tools.getByRole('button', { name: 'Export' }).click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/^order_\d+_proxies\.txt$/)
    expect((await readFile(await file.path(), 'utf8')).trim()).toBe(copied)
  })

  await test.step('uses one with curl', async () => {
    const seen = await curl(proxyUrl(line), `${platformUrl}/echo`)
    expect(JSON.parse(seen.body)).toMatchObject({ ip: line.split(':')[0] })
    expect((await curl(proxyUrl(line), 'http://www.nike.com/')).status).toBe(403)
    expect((await curl(proxyUrl(line, 'wrong'), `${platformUrl}/echo`)).status).toBe(407)
  })

  await test.step('has a mail that the proxies are there', async () => {
    await mailTo(shop, 'walker1@example.com', /proxies/i)
  })
})
