import { violations } from './axe.ts'
import { expect, test } from './shop.ts'

const PUBLIC = [
  '/',
  '/product',
  '/product?id=1',
  '/login',
  '/createAccount',
  '/forgot',
  '/api-reference',
  '/support',
  '/status',
  '/rewards',
  '/policy?id=1',
  '/policy?id=2',
  '/policy?id=3'
]
const CUSTOMER = ['proxies', 'setting', 'receipts', 'rewards', 'invite', 'promocodeUser', 'giftcardUser'].map(
  page => `/dashboard/index/${page}`
)

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [390, 1440]) {
    test.describe(`${colorScheme}, ${width} px`, () => {
      test.use({ colorScheme, viewport: { width, height: 900 } })

      test('every screen of a visitor and a customer is accessible and fits its width', async ({ page, shop }) => {
        test.setTimeout(180_000)
        const errors: string[] = []
        page.on('console', message => {
          if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()}`)
        })
        const look = async (path: string) => {
          await page.goto(shop.url + path)
          await expect(page.locator('main')).toBeVisible()
          await page.waitForLoadState('networkidle')
          expect.soft(await violations(page), path).toEqual([])
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
          expect.soft(wide, `${path} is wider than the window`).toBeLessThanOrEqual(0)
        }
        for (const path of PUBLIC) await look(path)
        expect(errors).toEqual([])
        await page.goto(`${shop.url}/login`)
        await page.getByRole('textbox', { name: 'Username or email' }).fill(shop.customer.username)
        await page.getByRole('textbox', { name: 'Password' }).fill(shop.customer.password)
        await page.getByRole('button', { name: 'Login', exact: true }).click()
        await expect(page).toHaveURL(`${shop.url}/product`)
        for (const path of CUSTOMER) await look(path)
      })
    })
  }
}
