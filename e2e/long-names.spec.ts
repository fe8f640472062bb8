import type { Page } from '@playwright/test'
import { asCustomer, buy } from './console.ts'
import { layoutFaults } from './layout.ts'
import { expect, test } from './shop.ts'

// Names that people type are in every list: however long they are, nothing is pushed out or lies on something else.

const LONG =
  'Residential addresses of a very long plan name that somebody has typed for the autumn season of 2026, with everything'
const NAMES = /^(product_name|variant_name|acl_name|acl_names|tag_name|collection_name|label|username)$/

const lengthen = (value: unknown, key = ''): unknown => {
  if (Array.isArray(value)) return value.map(one => lengthen(one, key))
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, lengthen(one, name)]))
  if (key === 'label' && value === null) return LONG
  return NAMES.test(key) && typeof value === 'string' ? `${LONG} ${value}` : value
}

/** Lists as they are answered, with longer names: many of them are longer than a form of today takes. */
const lengthenNames = (page: Page) =>
  page.route(/\/api\/(products|orders\/order_list\/\?)/, async route => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    return route.fulfill({ response, json: lengthen(await response.json()) as object })
  })

const SCREENS = ['/', '/product', '/product?id=1', '/dashboard/index/proxies', '/dashboard/index/receipts']

const FIGURES: [RegExp, number | string][] = [
  [/^(points|reward_points|pending_points|level_points|invite_count|point)$/, 99_999_999],
  [/(^|_)stock$/, 1_000_000],
  [/(^|_)(amount|price|mount)$/, '9999999.99']
]
/** Figures as big as the rules of their fields let them be. */
const enlarge = (value: unknown, key = ''): unknown => {
  if (Array.isArray(value)) return value.map(one => enlarge(one, key))
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, enlarge(one, name)]))
  const big = FIGURES.find(([name, figure]) => name.test(key) && typeof value === typeof figure)
  return big ? big[1] : value
}

const WITH_FIGURES = [
  '/',
  '/product',
  '/product?id=1',
  '/dashboard/index/proxies',
  '/dashboard/index/receipts',
  '/dashboard/index/rewards',
  '/dashboard/index/promocodeUser',
  '/dashboard/index/invite',
  '/dashboard/index/setting'
]

test('names of more than 100 characters fit what customers see', async ({ page, shop }) => {
  await buy(shop)
  await asCustomer(page, shop)
  await lengthenNames(page)
  for (const path of SCREENS) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(shop.url + path)
    await expect(page.locator('main')).toContainText(LONG.slice(0, 40))
    await fits(page, path)
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('a product whose name is one long word fits a phone', async ({ page, shop }) => {
  const word = 'Wohnanschlussadressenverwaltungsgesellschaften'
  await buy(shop)
  await asCustomer(page, shop)
  await page.route(/\/api\/(products|orders\/)/, async route => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    if (!response.headers()['content-type']?.includes('json')) return route.fulfill({ response })
    const body = (await response.text()).replaceAll(/"product_name":"[^"]*"/g, `"product_name":"${word}"`)
    return route.fulfill({ response, body })
  })
  await page.setViewportSize({ width: 360, height: 800 })
  for (const path of SCREENS) {
    await page.goto(shop.url + path)
    const name = page.locator('main').getByText(word).first()
    await expect(name).toBeVisible()
    const right = (box: { x: number; width: number } | null) => (box ? box.x + box.width : Infinity)
    expect.soft(right(await name.boundingBox()), path).toBeLessThanOrEqual(360)
    expect.soft(await page.evaluate('document.documentElement.scrollWidth'), path).toBe(360)
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

for (const locale of ['en-US', 'zh-CN'])
  test.describe(locale, () => {
    test.use({ locale })

    test('the biggest figures fit what customers see', async ({ page, shop }) => {
      await buy(shop)
      await asCustomer(page, shop)
      await page.route(/\/api\//, async route => {
        if (route.request().method() !== 'GET' || /feed|events/.test(route.request().url())) return route.fallback()
        const response = await route.fetch()
        if (!response.headers()['content-type']?.includes('json')) return route.fulfill({ response })
        return route.fulfill({ response, json: enlarge(await response.json()) as object })
      })
      for (const path of WITH_FIGURES) {
        await page.setViewportSize({ width: 1440, height: 900 })
        await page.goto(shop.url + path)
        await expect(page.locator('main')).toBeVisible()
        await page.waitForLoadState('networkidle')
        await fits(page, path)
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })
  })

async function fits(page: Page, path: string): Promise<void> {
  for (const width of [1440, 390, 360]) {
    await page.setViewportSize({ width, height: 900 })
    await expect
      .soft(async () => expect(await layoutFaults(page), `${path} at ${width} px`).toEqual([]))
      .toPass({ timeout: 30_000 })
  }
}
