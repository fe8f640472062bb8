import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { movedIn, shiftOf, watchShifts } from './layout.ts'
import { expect, test } from './shop.ts'

/** Goes to the end of the plans, from where on the rest is loaded. */
async function openAll(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'See more' }).scrollIntoViewIfNeeded()
  await expect(page.getByRole('heading', { name: 'How it works' })).toBeVisible()
  await page.waitForLoadState('networkidle')
}

test('a visitor sees what the shop measures, copies the curl line, and reads the questions', async ({
  page,
  context,
  shop
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.url })
  const wrong: string[] = []
  page.on('console', message => message.type() === 'error' && wrong.push(message.text()))
  await page.goto(shop.url)
  const proof = page.getByRole('region', { name: 'Measured by this shop' })
  await expect(proof).toContainText('IPv4 addresses in stock')
  await expect(proof).toContainText('65,000+')
  await openAll(page)
  await page.getByRole('button', { name: 'Copy: the curl line' }).click()
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
    'curl -x http://USER:PASSWORD@IP:PORT https://www.example.com/'
  )
  const places = page.getByRole('region', { name: 'Locations' })
  await expect(places).toContainText('London')
  await expect(places.getByRole('listitem').filter({ hasText: 'United Kingdom' }).locator('img')).toHaveJSProperty(
    'complete',
    true
  )
  const questions = page.getByRole('region', { name: 'Questions' })
  await expect(questions.locator('details')).toHaveCount(5)
  const first = questions.locator('details').first()
  await first.locator('summary').focus()
  await page.keyboard.press('Enter')
  await expect(first.locator('p')).toBeVisible()
  await page.getByRole('link', { name: /Netflix/ }).click()
  await expect(page).toHaveURL(/\/product\?acl=\d+$/)
  expect(wrong).toEqual([])
})

test('chosen tags are in the address: reload, back and forward follow it', async ({ page, shop }) => {
  await page.goto(shop.url)
  const rows = page.getByRole('table').getByRole('row')
  await expect(rows).toHaveCount(9)
  const tag = page.getByRole('button', { name: 'Tickets', exact: true })
  await tag.click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await expect(page).toHaveURL(/\?tags=\d+$/)
  await expect(rows.filter({ hasText: 'Metro ISP' })).toHaveCount(0)
  // Two of the demo's plans carry it.
  await expect(rows).toHaveCount(3)
  await page.reload()
  await expect(rows).toHaveCount(3)
  await expect(tag).toHaveAttribute('aria-pressed', 'true')
  await page.goBack()
  await expect(rows).toHaveCount(9)
  await expect(tag).toHaveAttribute('aria-pressed', 'false')
  await page.goForward()
  await expect(rows).toHaveCount(3)
  await expect(tag).toHaveAttribute('aria-pressed', 'true')
})

test('a search of the questions is in the address', async ({ page, shop }) => {
  await page.goto(`${shop.url}/support`)
  await page.getByRole('searchbox').fill('deliver')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\?q=deliver$/)
  await page.reload()
  await expect(page.getByRole('searchbox')).toHaveValue('deliver')
  await page.goBack()
  await expect(page.getByRole('searchbox')).toHaveValue('')
})

test('a plan shows which blocks of its addresses are leased', async ({ page, shop }) => {
  await page.goto(`${shop.url}/product`)
  await page.getByRole('link', { name: /Metro ISP/ }).click()
  await expect(
    page.getByText('Each square is a block of addresses; the brighter, the more of it is leased.')
  ).toBeVisible()
  await expect(
    page
      .getByRole('img', { name: /the more of it is leased/ })
      .first()
      .locator('rect')
  ).toHaveCount(128)
})

for (const [scheme, width] of [
  ['light', 2560],
  ['dark', 360]
] as const)
  test(`the whole page is accessible and still at ${width} px, ${scheme}`, async ({ browser, shop }) => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme })
    const page = await context.newPage()
    await watchShifts(page)
    await page.goto(shop.url)
    await page.waitForLoadState('networkidle')
    await openAll(page)
    for (let at = 0; at < 12; at++) {
      await page.mouse.wheel(0, 500)
      await page.waitForTimeout(60)
    }
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(await shiftOf(page), await movedIn(page)).toBeLessThanOrEqual(0.05)
    expect(await violations(page)).toEqual([])
    await context.close()
  })
