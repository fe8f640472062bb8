import type { StatusPage } from '@netlet/contract'
import { asAdmin, buy, call, endSyncs, said, signedIn } from './console.ts'
import { expect, test } from './shop.ts'

// What ties the shop to the world, as a newcomer finds it in the demo: nothing has to be set up before.

test('the demo shows bot, notices, webhooks, codes, the preview of a sync, and the status page', async ({
  page,
  shop
}) => {
  const { platformUrl, url } = shop
  const screen = (name: string) => page.goto(`${url}/dashboard/index/${name}`)

  await test.step('the first page of the stand-ins leads to each of them', async () => {
    await page.goto(platformUrl)
    const links = page.getByRole('main').getByRole('listitem').getByRole('link')
    await expect(links).toHaveText([
      'Products',
      'Discounts',
      'Customers',
      'Mail',
      'Chat',
      'Operators’ room',
      'Webhooks'
    ])
    for (const link of await links.all()) {
      const place = await page.request.get(new URL((await link.getAttribute('href')) ?? '', platformUrl).href)
      expect(place.status(), place.url()).toBe(200)
    }
  })

  await test.step('bot: it is there, and answers who asks', async () => {
    await page.goto(platformUrl)
    await page.getByRole('link', { name: 'Chat' }).click()
    await expect(async () => {
      await page.reload()
      await expect(page.getByText('The shop’s bot is connected.')).toBeVisible({ timeout: 500 })
      await page.getByRole('button', { name: '/points' }).click({ timeout: 500 })
    }).toPass()
    await expect(page.getByRole('status')).toContainText('only you can see this')
  })

  await test.step('notices: a payment that needs a hand is told in the operators’ room', async () => {
    const order = await buy(shop, { currency: 'EUR' })
    await expect(async () => {
      await page.goto(`${platformUrl}/chat/operators`)
      await expect(page.getByText('An operator tried this channel out')).toBeVisible({ timeout: 500 })
      await expect(page.getByRole('main')).toContainText(order.order_id, { timeout: 500 })
    }).toPass()
    await asAdmin(page, shop)
    await screen('notices')
    const told = page.getByText(/^Payment for platform order #\d+ needs your attention$/).first()
    await expect(told).toBeVisible()
  })

  await test.step('webhooks: what the customer’s own server was told, with a signature that fits', async () => {
    const caught = page.locator('section', { has: page.getByRole('heading', { name: 'webhook.test' }) })
    await expect(async () => {
      await page.goto(`${platformUrl}/hooks`)
      await expect(caught.first()).toContainText('Signature verified', { timeout: 500 })
    }).toPass()
  })

  await test.step('codes: those of the levels are there; a gift card is missing, and made by one press', async () => {
    await screen('leveldiscount')
    const silver = page.getByRole('row').filter({ hasText: 'SILVER5' })
    await expect(silver.getByText('There', { exact: true })).toBeVisible()
    await page.goto(`${platformUrl}/discounts`)
    await expect(page.getByText('SILVER5')).toBeVisible()
    await expect(page.getByText('DEMO-GIFT-10')).toHaveCount(0)

    await screen('giftcard')
    const card = page.getByRole('row').filter({ hasText: 'DEMO-GIFT-10' })
    await expect(card.getByText('Missing', { exact: true })).toBeVisible()
    await page.getByRole('button', { name: 'Create there: DEMO-GIFT-10' }).click()
    await said(page, 'The platform is being asked')
    await expect(card.getByText('There', { exact: true })).toBeVisible()
    await page.goto(`${platformUrl}/discounts`)
    const made = page.getByRole('row').filter({ hasText: 'DEMO-GIFT-10' })
    await expect(made).toContainText('$10.00')
  })

  await test.step('customers: whoever has bought is tagged with the level of the user', async () => {
    await page.goto(`${platformUrl}/customers`)
    await expect(page.getByRole('row').filter({ hasText: 'demo1@example.com' })).toBeVisible()
  })

  await test.step('sync: the preview shows what is new, changed and hidden; it is applied, and undone', async () => {
    await page.goto(`${platformUrl}/products`)
    const prices = page.getByRole('row').filter({ hasText: 'Hearth Residential' }).getByRole('cell').nth(2)
    const before = await prices.innerText()
    await page.getByRole('button', { name: 'Raise the prices of Hearth Residential by 10 %' }).click()
    await expect(prices).not.toHaveText(before)
    await endSyncs(shop)
    await screen('productManager')
    await page.getByRole('button', { name: 'Synchronise' }).click()
    const dialog = page.getByRole('dialog', { name: /^Take products/ })
    const tags = dialog.getByRole('region', { name: 'Tags' }).getByRole('listitem')
    await expect(tags.filter({ hasText: 'Weekend' })).toContainText('New')
    await expect(tags.filter({ hasText: 'Clearance' })).toContainText('Removed')
    await expect(tags.filter({ hasText: 'acl' })).toContainText('hidden, internal')
    const plans = dialog.getByRole('region', { name: 'Products' })
    await expect(plans).toContainText('is now Arcade Gaming Datacenter')
    const changes = dialog.getByRole('region', { name: 'Prices' }).getByRole('listitem')
    await expect(changes.first()).toContainText('Hearth Residential')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await said(page, 'successfully')
    await expect(page.getByText('Arcade Gaming Datacenter')).toBeVisible()

    await page.getByRole('button', { name: 'Synchronise' }).click()
    await expect(dialog.getByText('Nothing to do')).toBeVisible()
    await dialog.getByRole('button', { name: 'Undo the last sync' }).click()
    await page.getByRole('button', { name: 'YES', exact: true }).click()
    await expect(plans).toContainText('is now Arcade Gaming Datacenter')
    // A price is what the platform asks: it stays.
    await expect(dialog.getByRole('region', { name: 'Prices' })).toHaveCount(0)
  })

  await test.step('status: each location, and mail to who asks for it', async () => {
    const admin = await signedIn(shop, 'admin')
    const { locations } = await call<StatusPage>(admin, 'get', '/api/status/')
    const form = { title: 'Slow replies', severity: 'minor', text: 'We look for the cause.' }
    await call(admin, 'post', '/api/status/incidents/', {
      ...form,
      locations: locations.map(location => location.id),
      started_at: new Date().toISOString()
    })
    await admin.dispose()
    await page.goto(`${url}/status`)
    await expect(page.getByText('Slow replies')).toBeVisible()
    await expect(page.getByRole('region', { name: 'Locations' })).toContainText('New York')
    await page.getByRole('textbox', { name: /mail/i }).fill('reader@example.com')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    let link = ''
    await expect
      .poll(async () => {
        const mails = (await (await fetch(`${platformUrl}/outbox.json`)).json()) as { to: string; text: string }[]
        const mail = mails.find(one => one.to === 'reader@example.com')
        link = /http:\S+[?&]confirm=[^\s)>]+/.exec(mail?.text ?? '')?.[0] ?? ''
        return link
      })
      .not.toBe('')
    await page.goto(link)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByText('Done. You get a mail when something happens.')).toBeVisible()
  })
})
