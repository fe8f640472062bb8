import { asCustomer, buy, signedIn } from './console.ts'
import { holding, openInOrder } from './held.ts'
import { movedIn, shiftOf, watchShifts } from './layout.ts'
import { expect, test } from './shop.ts'

// Whatever is answered first, nothing that stands on a page of the dashboard is moved by what comes after it.

const LEVELS = /\/api\/rewards\/level_code\//
const POINTS = /\/api\/rewards\/point_record\//
const EXCHANGES = /\/api\/rewards\/gift_card\/base-info\//

test.beforeEach(async ({ page, shop }) => {
  await asCustomer(page, shop)
  await watchShifts(page)
})

test('the levels and points stand still in every order of their answers', async ({ page, shop }) => {
  await buy(shop)
  const orders = [
    [LEVELS, POINTS, EXCHANGES],
    [POINTS, EXCHANGES, LEVELS],
    [EXCHANGES, LEVELS, POINTS]
  ]
  for (const [width, some] of [
    [1440, orders],
    [390, orders],
    [360, orders.slice(-1)],
    [768, orders.slice(-1)]
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    for (const calls of some) {
      await openInOrder(page, `${shop.url}/dashboard/index/rewards`, calls)
      await expect(page.getByRole('region', { name: 'Exchange coins' })).toBeVisible()
      expect
        .soft(await shiftOf(page), `${width} px: ${calls.join(', ')}: ${await movedIn(page)}`)
        .toBeLessThanOrEqual(0.01)
    }
  }
})

const ORDERS = /\/api\/orders\/order_list\/\?limit=5/

const PAGES: [string, RegExp[]][] = [
  ['', [/\/api\/auth\/session\//]],
  ['/index/proxies', [ORDERS, /\/product_collections\//]],
  ['/index/giftcardUser', [EXCHANGES, /\/api\/rewards\/coupon_code\//]],
  ['/index/invite', [/\/api\/users\/invite_code/, /\/api\/users\/invite_log/]],
  ['/index/setting', [/\/api\/users\/sessions\//, /\/api\/users\/api_keys\//]]
]

test('the other pages of the dashboard stand still in both orders of their answers', async ({ page, shop }) => {
  await buy(shop)
  // Signed in from so many places that their list is longer than what is held for it.
  for (let n = 0; n < 16; n++) await (await signedIn(shop, 'customer')).dispose()
  for (const [width, inOrder] of [
    [390, (calls: RegExp[]) => calls.toReversed()],
    [1440, (calls: RegExp[]) => calls]
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    for (const [path, calls] of PAGES) {
      await openInOrder(page, `${shop.url}/dashboard${path}`, inOrder(calls))
      expect.soft(await shiftOf(page), `${path} at ${width} px: ${await movedIn(page)}`).toBeLessThanOrEqual(0.02)
    }
  }
})

test('rows stand under their own figures while the next page is on its way', async ({ page, shop }) => {
  const record = (id: number) => ({
    id,
    created_at: '2026-11-20T08:00:00.000Z',
    reason: 'Chat message',
    reason_code: 'chat_message',
    params: null,
    point: id,
    kind: 'level',
    pending_until: null
  })
  // So much activity has nobody in a shop of a test: only these rows are made up.
  await page.route(POINTS, route => {
    const offset = Number(new URL(route.request().url()).searchParams.get('offset') ?? 0)
    const rows = Array.from({ length: 9 }, (_, index) => record(100 + index)).slice(offset, offset + 4)
    return route.fulfill({
      json: { code: 2000, data: { data: rows, total: 9, limit: 4, offset, next: null }, msg: '' }
    })
  })
  await page.goto(`${shop.url}/dashboard/index/rewards`)
  const activity = page.locator('main').getByRole('region', { name: 'Recent point activity' })
  const figures = activity.getByRole('status')
  await expect(figures).toHaveText('1 to 4 of 9')
  const answers = await holding(page, /point_record\/\?.*offset=4/)
  await activity.getByRole('button', { name: 'Page 2' }).click()
  await expect(page).toHaveURL(/page=2/)
  await expect(activity.locator('[aria-busy="true"]')).toBeVisible()
  await expect(figures).toHaveText('1 to 4 of 9')
  await expect(activity).toContainText('+100')
  await expect(activity).not.toContainText('+104')
  await answers()
  await expect(figures).toHaveText('5 to 8 of 9')
  await expect(activity).toContainText('+104')
  await expect(activity).not.toContainText('+100')
  await expect(activity.locator('[aria-busy="true"]')).toHaveCount(0)
})

const WORDS = /\/assets\/account\.zh-CN-.*\.js$/

test('a language that is chosen is shown once all its words are there', async ({ page, shop }) => {
  const words = await holding(page, WORDS)
  const asked = page.waitForRequest(WORDS)
  await page.goto(`${shop.url}/dashboard/index/rewards`)
  const heading = page.getByRole('heading', { level: 1 })
  await expect(heading).toHaveText('Level and points')
  await expect(page.getByRole('region', { name: 'Exchange coins' })).toBeVisible()
  const header = page.getByRole('banner')
  await header.getByRole('button', { name: 'Language' }).click()
  await header.getByRole('button', { name: '简体中文' }).click()
  await asked
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  await expect(page.locator('body')).not.toContainText('等级与积分')
  await expect(heading).toHaveText('Level and points')
  await words()
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
  await expect(heading).toHaveText('等级与积分')
  await expect(page.locator('main')).not.toContainText('Level and points')
})

test.describe('of somebody who reads Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('a page shows nothing in English before its words are there', async ({ page, shop }) => {
    const words = await holding(page, WORDS)
    await page.goto(`${shop.url}/dashboard/index/rewards`)
    const main = page.locator('main')
    await expect(main.getByRole('status')).toBeVisible()
    await expect(page.locator('body')).not.toContainText(/Level and points|Loading|Dashboard/)
    await words()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('等级与积分')
    await expect(main).not.toContainText('Level and points')
  })
})
