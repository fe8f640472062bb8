import { violations } from './axe.ts'
import { asAdmin, buy } from './console.ts'
import { expect, test } from './shop.ts'

const looks = [
  ['en', 'light', 390],
  ['en', 'light', 1440],
  ['en', 'dark', 390],
  ['en', 'dark', 1440],
  ['zh-CN', 'light', 390],
  ['zh-CN', 'dark', 1440]
] as const

for (const [locale, colorScheme, width] of looks) {
  test(`payments, health and mails are accessible and fit their width: ${locale}, ${colorScheme}, ${width} px`, async ({
    browser,
    shop
  }) => {
    test.setTimeout(180_000)
    const order = await buy(shop)
    const context = await browser.newContext({
      locale,
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width, height: 900 }
    })
    const page = await context.newPage()
    await asAdmin(page, shop)
    for (const [screen, shown] of [
      ['payments', order.order_id],
      ['payments?open=1', order.order_id],
      ['health', 'http://127.0.0.1'],
      ['mails', shop.customer.username]
    ] as const) {
      await page.goto(`${shop.url}/dashboard/index/${screen}`)
      await expect(page.getByText(shown).first()).toBeVisible()
      await page.waitForLoadState('networkidle')
      expect.soft(await violations(page), screen).toEqual([])
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
      expect.soft(wide, `${screen} is wider than the window`).toBeLessThanOrEqual(0)
    }
    await context.close()
  })
}
