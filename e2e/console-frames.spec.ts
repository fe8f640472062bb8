import type { MailPreview } from '@netlet/contract'
import { violations } from './axe.ts'
import { asAdmin, call, signedIn } from './console.ts'
import { expect, test } from './shop.ts'

test('every mail is accessible in both languages', async ({ browser, shop }) => {
  test.setTimeout(600_000)
  const request = await signedIn(shop, 'admin')
  const previews = await call<MailPreview[]>(request, 'get', '/api/settings/mail_templates/')
  await request.dispose()
  expect(new Set(previews.map(({ language }) => language))).toEqual(new Set(['en', 'zh-CN']))
  // A page of its own for each: in the console a mail is in a frame that runs no scripts, and so no axe either.
  const context = await browser.newContext()
  const page = await context.newPage()
  for (const { template, language, html } of previews) {
    await page.setContent(html)
    expect.soft(await violations(page), `${template} ${language}`).toEqual([])
  }
  await context.close()
})

for (const [locale, colorScheme, width] of [
  ['en', 'dark', 390],
  ['en', 'light', 1440]
] as const) {
  test(`the job monitor goes back, forward and round in its frame: ${colorScheme}, ${width} px`, async ({
    browser,
    shop
  }) => {
    const context = await browser.newContext({ locale, colorScheme, viewport: { width, height: 900 } })
    const page = await context.newPage()
    await asAdmin(page, shop)
    const outer = `${shop.url}/dashboard/index/tasks?tab=monitor`
    await page.goto(outer)
    const frame = page.frameLocator('iframe')
    const isAt = (path: string) =>
      expect.poll(() => frame.locator('body').evaluate<string, unknown>('location.pathname')).toBe(path)
    await isAt('/task-monitor')
    // Before its first page there is another screen.
    const back = page.getByRole('button', { name: 'Back' })
    await expect(back).toHaveAttribute('aria-disabled', 'true')
    await back.click({ force: true })
    await frame.getByRole('link', { name: 'View all' }).first().click()
    await isAt('/task-monitor/queues')
    const queue = frame.locator('table a[href*="/task-monitor/queues/"]').first()
    const [path, name] = [(await queue.getAttribute('href')) ?? '', await queue.innerText()]
    await queue.click()
    await isAt(path)
    const heading = frame.getByRole('heading', { name })

    await back.click()
    await isAt('/task-monitor/queues')
    await expect(queue).toBeVisible()
    await page.getByRole('button', { name: 'Forward' }).click()
    await isAt(path)
    await expect(heading).toBeVisible()

    // Refresh loads the page that is shown anew: what was written into the old one is gone.
    await frame.locator('body').evaluate('document.body.dataset.old = "yes"')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await expect(frame.locator('body:not([data-old])')).toBeVisible()
    await expect(heading).toBeVisible()
    await isAt(path)
    expect(page.url()).toBe(outer)

    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
    expect(wide).toBeLessThanOrEqual(0)
    await context.close()
  })
}
