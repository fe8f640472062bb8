import { readFile } from 'node:fs/promises'
import { curl, proxyUrl } from './curl.ts'
import { expect, test } from './shop.ts'

test('a new customer buys a plan in the browser and uses the proxy', async ({ page, context, shop }) => {
  const { customer, platformUrl, url } = shop
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })

  await test.step('the shop shows the demo collections and products with prices and stock', async () => {
    await page.goto(url)
    await expect(page.getByRole('heading', { name: 'ISP Proxies' })).toBeVisible()
    const row = page.getByRole('row').filter({ hasText: 'Metro ISP' })
    await expect(row).toContainText('available')
    await expect(row).toContainText('$2.02')
  })

  await test.step('the demo customer logs in', async () => {
    await page.getByRole('banner').getByRole('link', { name: 'Login' }).click()
    await page.getByRole('textbox', { name: 'Username or email' }).fill(customer.username)
    await page.getByRole('textbox', { name: 'Password' }).fill(customer.password)
    await page.getByRole('button', { name: 'Login', exact: true }).click()
    await expect(page).toHaveURL(`${url}/product`)
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
    await expect(page.getByRole('region', { name: 'Your order' }).getByText('$19.76')).toBeVisible()
  })

  await test.step('pays on the platform in a new tab while the countdown waits', async () => {
    const opened = context.waitForEvent('page')
    await page.getByRole('button', { name: 'Purchase' }).click()
    const checkout = await opened
    const countdown = page.getByRole('dialog', { name: 'Waiting for your payment' })
    await expect(countdown).toContainText(/(30:00|29:\d\d)/)
    await expect(countdown.getByRole('button', { name: 'In progress' })).toBeDisabled()
    await checkout.waitForURL(`${platformUrl}/checkouts/**`)
    await checkout.getByRole('button', { name: /Pay/ }).click()
    await expect(checkout.getByRole('heading', { name: /Thank you/i })).toBeVisible()
    await checkout.close()
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

  await test.step('finds the signed events at the page that stands in for the customer’s server', async () => {
    await expect(async () => {
      await page.goto(`${platformUrl}/hooks`)
      for (const type of ['webhook.test', 'order.delivered']) {
        const caught = page.locator('section', { has: page.getByRole('heading', { name: type }) })
        await expect(caught.first()).toContainText('Signature verified', { timeout: 500 })
      }
    }).toPass()
  })
})
