import type { Product } from '@netlet/contract'
import type { Page } from '@playwright/test'
import { someIds, shotsOf } from '../scripts/shots/screens.ts'
import { violations } from './axe.ts'
import { asCustomer, buy, call, signedIn } from './console.ts'
import { layoutFaults, movedIn, shiftOf, watchShifts } from './layout.ts'
import { expect, test } from './shop.ts'

const MOST_SHIFT = 0.05
/** The plan whose quantities begin, on phones of 390 and of 360 px, where the bar at the window's bottom lies. */
const UNDER_THE_BAR = 'Harbor Datacenter'

/** Each scheme with each language, and each width with each language: loaded at the first, then seen at the others. */
const WALKS = [
  { colorScheme: 'light', locale: 'en-US', width: 1440, others: [768, 360] },
  { colorScheme: 'dark', locale: 'en-US', width: 390, others: [2560] },
  { colorScheme: 'light', locale: 'zh-CN', width: 360, others: [1440] },
  { colorScheme: 'dark', locale: 'zh-CN', width: 2560, others: [768, 390] }
] as const

for (const { colorScheme, locale, width, others } of WALKS)
  test.describe(`${colorScheme}, ${locale}, loaded at ${width} px`, () => {
    test.use({ colorScheme, locale, viewport: { width, height: 900 } })

    test('every screen of a visitor and a customer is accessible, still, and fits all widths', async ({
      page,
      shop
    }) => {
      test.setTimeout(480_000)
      const errors: string[] = []
      page.on('console', message => {
        if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()}`)
      })
      await watchShifts(page)
      const order = await buy(shop)
      const admin = await signedIn(shop, 'admin')
      const customer = await signedIn(shop, 'customer')
      const ids = { ...(await someIds(admin, customer)), own: order.id }
      await customer.dispose()
      const { data: plans } = await call<{ data: Product[] }>(admin, 'get', '/api/products/products/?limit=50')
      const under = plans.find(plan => plan.product_name === UNDER_THE_BAR)
      if (!under) throw new Error(`there is no ${UNDER_THE_BAR}`)
      await admin.dispose()
      for (const { name, path } of await shotsOf('public', ids)) await look(page, shop.url + path, name)
      await look(page, `${shop.url}/product?id=${under.id}`, UNDER_THE_BAR)
      // A page that is not there answers so.
      expect(errors.filter(error => !/no\/such\/page|product\?id=999999/.test(error))).toEqual([])
      await asCustomer(page, shop)
      errors.length = 0
      for (const { name, path } of await shotsOf('customer', ids)) await look(page, shop.url + path, name)
      expect(errors).toEqual([])
    })

    async function look(page: Page, address: string, name: string): Promise<void> {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(address)
      await expect(page.locator('main')).toBeVisible()
      await page.waitForLoadState('networkidle')
      expect.soft(await shiftOf(page), `${name} moves: ${await movedIn(page)}`).toBeLessThanOrEqual(MOST_SHIFT)
      expect.soft(await violations(page), name).toEqual([])
      for (const other of [width, ...others]) {
        await page.setViewportSize({ width: other, height: 900 })
        // Charts draw themselves anew once they have heard of another width.
        await expect.soft.poll(() => layoutFaults(page), { message: `${name} at ${other} px` }).toEqual([])
      }
    }
  })
