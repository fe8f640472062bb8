import type { Order, Product } from '@netlet/contract'
import type { Page } from '@playwright/test'
import { someIds, shotsOf, type Ids } from '../scripts/shots/screens.ts'
import { violations } from './axe.ts'
import { anOrder, call, signedIn, signIn } from './calls.ts'
import { layoutFaults, movedIn, shiftOf, watchShifts } from './layout.ts'
import { aPlan, consoleScreens } from './screens.ts'
import { countCalls, goWithin, settled } from './settled.ts'
import { expect, test, type RunningShop } from './shop.ts'

// Checks every screen for accessibility and layout, in both languages and schemes, and the shop's screens for layout
// shifts while they load.

/**
 * Each screen opens at one width, where axe checks it, and is then resized to the other. The widths alternate from
 * screen to screen, and in the second look the other way round, so that axe sees each screen on a phone and on a
 * desktop.
 */
const LOOKS = [
  { locale: 'en-US', colorScheme: 'light', widths: [390, 1440] },
  { locale: 'zh-CN', colorScheme: 'dark', widths: [2560, 768] }
] as const
const MOST_SHIFT = 0.05
/** Allowed in tables of the console, because the row's drawer has the full text. */
const OF_TABLES = /^(shortened|broken in the middle)/
const CONSOLE = '/dashboard/index/'
/** The frame of every screen, which axe checks once. */
const AROUND = ['header:not(main *)', '#side-menu', 'footer:not(main *)']
/** A plan whose quantities, on a phone, start under the bar at the bottom. */
const UNDER_THE_BAR = 'Harbor Datacenter'

const nameOf = (path: string) => path.replace(CONSOLE, '').split(/[/?]/)[0] ?? ''

async function idsOf(shop: RunningShop): Promise<Ids> {
  const { id } = await anOrder(shop)
  const [admin, customer] = [await signedIn(shop, 'admin'), await signedIn(shop, 'customer')]
  const ids = { ...(await someIds(admin, customer)), own: id }
  await Promise.all([admin.dispose(), customer.dispose()])
  return ids
}

async function underTheBar(shop: RunningShop, page: Page): Promise<string> {
  const path = `${shop.url}/api/products/products/?limit=50`
  const { data } = await call<{ data: Product[] }>(page.request, 'get', path)
  return `/product?id=${data.find(plan => plan.product_name === UNDER_THE_BAR)?.id}`
}

test('every screen of the console is among those that are looked at', async () => {
  // Names do not depend on the data.
  const order = { id: 1, order_id: 'NL-1' } as Order
  const account = { username: 'somebody', password: '' }
  const shop = { customer: account, admin: account, platformUrl: 'http://127.0.0.1' } as RunningShop
  const seen = new Set(consoleScreens(order, shop).map(([screen]) => nameOf(screen)))
  const all = await shotsOf('admin', { product: 1, user: 2, order: order.id, own: order.id, collection: 1 })
  expect(all.length).toBeGreaterThan(25)
  expect(all.map(({ path }) => nameOf(path)).filter(name => !seen.has(name))).toEqual([])
})

// Many screens take long on a busy machine.
test.describe.configure({ timeout: 420_000 })

LOOKS.forEach(({ widths, ...look }, turn) =>
  test.describe(Object.values(look).join(', '), () => {
    test.use({ ...look, viewport: { width: widths[0], height: 900 } })

    test.beforeEach(async ({ page }) => {
      await watchShifts(page)
      await countCalls(page)
    })

    /** Checks the open screen at the window's width, then at the other one, which stays. */
    async function lookAt(page: Page, name: string, accepted?: RegExp): Promise<void> {
      expect.soft(await violations(page, AROUND), name).toEqual([])
      const opened = page.viewportSize()?.width
      for (const width of widths.toSorted((a, b) => Number(b === opened) - Number(a === opened))) {
        if (width !== opened) await page.setViewportSize({ width, height: 900 })
        const faults = async () => (await layoutFaults(page)).filter(fault => !accepted?.test(fault))
        // Charts render again after a resize.
        await expect.soft.poll(faults, { message: `${name} at ${width} px` }).toEqual([])
      }
    }

    /** Checks a whole page including its frame. */
    async function lookAround(page: Page): Promise<void> {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        expect.soft(await violations(page), `around ${page.url()} at ${width} px`).toEqual([])
      }
    }

    test('every screen of a visitor and a customer', async ({ page, shop }) => {
      const errors: string[] = []
      page.on('console', message => {
        if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()}`)
      })
      const ids = await idsOf(shop)
      const visit = async (path: string, name: string) => {
        await page.goto(shop.url + path)
        await expect(page.locator('main')).toBeVisible()
        await settled(page)
        expect.soft(await shiftOf(page), `${name} moves: ${await movedIn(page)}`).toBeLessThanOrEqual(MOST_SHIFT)
        await lookAt(page, name)
      }
      for (const { name, path } of await shotsOf('public', ids)) await visit(path, name)
      await page.setViewportSize({ width: widths[0], height: 900 })
      await visit(await underTheBar(shop, page), UNDER_THE_BAR)
      await lookAround(page)
      // Missing pages log an error themselves.
      expect(errors.filter(error => !/no\/such\/page|product\?id=999999/.test(error))).toEqual([])
      await signIn(page, shop, 'customer')
      errors.length = 0
      for (const { name, path } of await shotsOf('customer', ids)) await visit(path, name)
      await lookAround(page)
      expect(errors).toEqual([])
    })

    test('every screen of the console', async ({ page, shop }) => {
      const errors: string[] = []
      page.on('pageerror', error => errors.push(`${page.url()}: ${error.message}`))
      const all = consoleScreens(await anOrder(shop), shop)
      // Every route in each look; further states of a route in one of the two.
      const routes = new Set(all.map(([screen]) => nameOf(screen)))
      const screens = all.filter(([screen], at) => routes.delete(nameOf(screen)) || at % 2 === turn)
      await aPlan(shop)
      await signIn(page, shop, 'admin')
      await page.goto(`${shop.url}${CONSOLE}`)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      for (const [screen, shown] of screens) {
        await goWithin(page, CONSOLE + screen)
        await expect(page.getByText(shown).filter({ visible: true }).first()).toBeVisible()
        await lookAt(page, screen, OF_TABLES)
      }
      await lookAround(page)
      expect(errors).toEqual([])
    })
  })
)
