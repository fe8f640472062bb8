import type { Page } from '@playwright/test'
import { anOrder, signIn } from './calls.ts'
import { layoutFaults } from './layout.ts'
import { countCalls, goWithin, settled } from './settled.ts'
import { expect, test } from './shop.ts'

// Texts that users enter, however long, push nothing out and overlap nothing.

const LONG =
  'Residential addresses of a very long plan name that somebody has typed for the autumn season of 2026, with everything'
const NAMES = /^(product_name|variant_name|acl_name|acl_names|tag_name|collection_name|label|username)$/
const WORD = 'Wohnanschlussadressenverwaltungsgesellschaftsvertreterversammlung'

/** The largest figures that the fields allow. */
const FIGURES: [RegExp, number | string][] = [
  [/^(points|reward_points|pending_points|level_points|invite_count|point)$/, 99_999_999],
  [/(^|_)stock$/, 1_000_000],
  [/(^|_)(amount|price|mount)$/, '9999999.99']
]

type Change = (value: unknown, key: string) => unknown
/** The DOM properties used here. */
type Reached = { outerHTML: string; getBoundingClientRect(): { right: number; width: number } }

/** Applies a change to each value of an answer, recursively. */
const changed = (value: unknown, change: Change, key = ''): unknown => {
  if (Array.isArray(value)) return value.map(one => changed(one, change, key))
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one, change, name)]))
  return change(value, key)
}

/** Changes the shop's answers to GET. Many values are longer than today's forms accept. */
async function changeAnswers(page: Page, path: RegExp, changeOf: (url: string) => Change): Promise<void> {
  await page.route(path, async route => {
    const request = route.request()
    if (request.method() !== 'GET' || request.resourceType() === 'eventsource') return route.fallback()
    const response = await route.fetch()
    if (!response.headers()['content-type']?.includes('json')) return route.fulfill({ response })
    return route.fulfill({ response, json: changed(await response.json(), changeOf(request.url())) as object })
  })
}

const OF_NAMES = /\/api\/(products|orders\/order_list\/\?)/
const lengthen: Change = (value, key) => {
  if (key === 'label' && value === null) return LONG
  return NAMES.test(key) && typeof value === 'string' ? `${LONG} ${value}` : value
}
const enlarge: Change = (value, key) =>
  FIGURES.find(([name, figure]) => name.test(key) && typeof value === typeof figure)?.[1] ?? value

const SHOP = ['/', '/product', '/product?id=1', '/dashboard/index/proxies', '/dashboard/index/receipts']
const REWARDS = ['rewards', 'promocodeUser', 'invite', 'setting'].map(name => `/dashboard/index/${name}`)

test('names of more than 100 characters, and the biggest figures, fit what customers see', async ({ page, shop }) => {
  await anOrder(shop)
  await signIn(page, shop, 'customer')
  await countCalls(page)
  await changeAnswers(page, /\/api\//, url => (value, key) => {
    const big = enlarge(value, key)
    return OF_NAMES.test(url) ? lengthen(big, key) : big
  })
  await page.goto(shop.url)
  for (const path of [...SHOP, ...REWARDS]) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await goWithin(page, path)
    if (SHOP.includes(path)) await expect(page.locator('main')).toContainText(LONG.slice(0, 40))
    await settled(page)
    for (const width of [1440, 390, 360]) {
      await page.setViewportSize({ width, height: 900 })
      await expect.soft.poll(() => layoutFaults(page), { message: `${path} at ${width} px` }).toEqual([])
    }
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

for (const [who, paths, names] of [
  ['customer', SHOP, /^product_name$/],
  [
    'admin',
    ['servers', 'servergroup', 'CIDRManage', 'leveldiscount', 'servers?form=edit.1', 'WebsiteSettings?tab=geofeed'].map(
      name => `/dashboard/index/${name}`
    ),
    /^(name|code|description)$/
  ]
] as const)
  test(`a name that is one long word leaves all in reach on a phone: ${who}`, async ({ page, shop }) => {
    await anOrder(shop)
    await signIn(page, shop, who)
    await countCalls(page)
    await page.setViewportSize({ width: 360, height: 800 })
    await changeAnswers(
      page,
      /\/api\/(products|orders|servers|rewards)\//,
      () => (value, key) => (names.test(key) && typeof value === 'string' ? WORD : value)
    )
    await page.goto(shop.url + paths[0])
    for (const path of paths) {
      await goWithin(page, path)
      const place = path.includes('form=') ? page.getByRole('dialog') : page.locator('main')
      await expect(place.getByText(WORD).first()).toBeVisible()
      await settled(page)
      const name = await place.getByText(WORD).first().boundingBox()
      expect.soft((name?.x ?? 0) + (name?.width ?? 361), path).toBeLessThanOrEqual(360)
      // Lists of the shop may scroll sideways.
      const outside =
        who === 'customer'
          ? []
          : await place.locator('button:not([role="tab"]), a[href], input').evaluateAll(all =>
              (all as unknown as Reached[]).flatMap(one => {
                const { right, width } = one.getBoundingClientRect()
                return width > 0 && right > 361 ? [one.outerHTML.slice(0, 120)] : []
              })
            )
      expect.soft(outside, path).toEqual([])
      expect.soft(await page.evaluate('document.documentElement.scrollWidth'), path).toBe(360)
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

test('a phone whose text has twice its size shows every page in its width, with the menu at hand', async ({
  page,
  shop
}) => {
  const order = await anOrder(shop)
  await signIn(page, shop, 'customer')
  await countCalls(page)
  await page.setViewportSize({ width: 390, height: 844 })
  const session = await page.context().newCDPSession(page)
  await session.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
  await page.goto(shop.url)
  expect(await page.evaluate('getComputedStyle(document.documentElement).fontSize')).toBe('32px')
  for (const path of [
    '/',
    '/product',
    '/product?id=1',
    '/rewards',
    '/support',
    '/status',
    '/createAccount',
    '/login',
    '/api-reference',
    ...['proxies', 'giftcardUser', 'receipts', ...REWARDS.map(one => one.slice(17))].map(
      name => `/dashboard/index/${name}`
    ),
    `/dashboard/index/receipts/${order.id}`
  ]) {
    await goWithin(page, path)
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
    await settled(page)
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
    expect.soft(wide, path).toBeLessThanOrEqual(0)
    await expect.soft(page.getByRole('banner').getByRole('button').last()).toBeInViewport({ ratio: 1 })
  }
})
