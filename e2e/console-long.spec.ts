import type { Locator, Page } from '@playwright/test'
import type { RunningShop } from './shop.ts'
import { asAdmin, buy } from './console.ts'
import { expect, test } from './shop.ts'

// What is longer than the window: the menu of a row, a question about many orders, and names that are one long word.

/** What of an element's globals is used here. */
type Reached = { outerHTML: string; getBoundingClientRect(): { right: number; width: number } }

const SIZES = [
  { width: 1366, height: 640 },
  { width: 1440, height: 900 }
]

/** The whole of it is inside the window. */
async function isInside(page: Page, part: Locator): Promise<void> {
  const height = page.viewportSize()?.height ?? 0
  await expect(async () => {
    const box = await part.boundingBox()
    expect(box?.y ?? -1).toBeGreaterThanOrEqual(0)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(height)
  }).toPass()
}

async function openList(page: Page, shop: RunningShop, screen: string): Promise<void> {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/${screen}`)
}

test('the menu of a row ends inside the window, and its last entry is scrolled to', async ({ page, shop }) => {
  const order = await buy(shop)
  for (const size of SIZES) {
    await page.setViewportSize(size)
    await openList(page, shop, 'orders')
    const button = page.getByRole('button', { name: `Actions: ${order.order_id}` })
    await button.scrollIntoViewIfNeeded()
    await button.click()
    const menu = page.getByRole('menu')
    await isInside(page, menu)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('End')
    const last = menu.getByRole('menuitem').last()
    await expect(last).toBeFocused()
    await isInside(page, last)
    await page.keyboard.press('Escape')
  }
})

test('a question of many lines keeps what it is answered with in sight', async ({ page, shop }) => {
  const group = (id: number) => ({
    group: { id, name: `A group of servers with a long name, number ${id}` },
    before: 4096,
    after: 1024
  })
  const plan = {
    orders: 28,
    addresses: 224,
    undelivered: 3,
    unpaid: 2,
    moves: { orders: 8, addresses: 64 },
    stays: { orders: 20, addresses: 160 },
    staying: Array.from({ length: 20 }, (_, index) => ({ order_id: `NL-20261122-${1000 + index}`, addresses: 8 })),
    reservations: { moves: { orders: 1, addresses: 8 }, stays: { orders: 1, addresses: 16 } },
    stock: [1, 2, 3, 4].flatMap(id =>
      [1, 2].map(rule => ({ ...group(id), rule: { id: rule, name: `a rule with a long name ${rule}` } }))
    )
  }
  // Such a fleet has no shop of a test: only what the question says of it is made up.
  await page.route(/\/plan\/\?/, route => route.fulfill({ json: { code: 2000, data: plan } }))
  for (const size of SIZES) {
    await page.setViewportSize(size)
    await openList(page, shop, 'servers')
    await page.getByRole('button', { name: 'Actions: Local agent' }).click()
    await page.getByRole('menuitem', { name: 'Drain' }).click()
    const question = page.getByRole('dialog', { name: /^Drain/ })
    const input = question.getByRole('textbox')
    await expect(question).toContainText('and 12 more')
    await expect(input).toBeFocused()
    for (const part of [
      input,
      question.getByRole('button', { name: 'NO' }),
      question.getByRole('button', { name: 'YES' })
    ])
      await isInside(page, part)
    await page.keyboard.press('Escape')
    await expect(question).toBeHidden()
    await expect(page.getByRole('button', { name: 'Actions: Local agent' })).toBeFocused()
  }
})

test('an action whose plan is refused leaves the focus on the button of the menu', async ({ page, shop }) => {
  await page.route(/\/plan\/\?/, route => route.fulfill({ status: 503, json: { code: 5000, msg: 'Not now' } }))
  await openList(page, shop, 'servers')
  const button = page.getByRole('button', { name: 'Actions: Local agent' })
  await button.press('Enter')
  await page.getByRole('menuitem', { name: 'Drain', exact: true }).press('Enter')
  await page.getByRole('alert').last().waitFor()
  await expect(page.getByRole('menu')).toHaveCount(0)
  await expect(button).toBeFocused()
})

test('a name that is one long word leaves what can be done in reach on a phone', async ({ page, shop }) => {
  const word = 'Wohnanschlussadressenverwaltungsgesellschaftsvertreterversammlung'
  const named = new RegExp(`"(name|code|description)":"[^"]*"`, 'g')
  await page.route(/\/api\/(servers|rewards)\//, async route => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    if (!response.headers()['content-type']?.includes('json')) return route.fulfill({ response })
    const body = (await response.text()).replaceAll(named, (_pair, name: string) => `"${name}":"${word}"`)
    return route.fulfill({ response, body })
  })
  await page.setViewportSize({ width: 390, height: 844 })
  for (const screen of [
    'servers',
    'servergroup',
    'CIDRManage',
    'leveldiscount',
    'servers?form=edit.1',
    'WebsiteSettings?tab=geofeed'
  ]) {
    await openList(page, shop, screen)
    const place = screen.includes('form') ? page.getByRole('dialog') : page.locator('main')
    await expect(place.getByText(word).first()).toBeVisible()
    const outside = () =>
      place.locator('button:not([role="tab"]), a[href], input').evaluateAll(all =>
        all.flatMap(one => {
          const { right, width } = (one as unknown as Reached).getBoundingClientRect()
          return width > 0 && right > 391 ? [(one as unknown as Reached).outerHTML.slice(0, 120)] : []
        })
      )
    await expect.poll(outside, { message: screen }).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth'), screen).toBe(390)
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})
