import { utimesSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import { startShop } from './shop.ts'

/** Notifies watchers of a change without changing the file. */
const touch = (file: string) => utimesSync(new URL(`../${file}`, import.meta.url), new Date(), new Date())

test('npm run dev changes the open page without a reload, and starts the shop again on a change', async ({ page }) => {
  test.setTimeout(420_000)
  const { shop, output, stop } = await startShop({ dev: true })
  try {
    const updates: string[] = []
    page.on('websocket', socket => socket.on('framereceived', ({ payload }) => updates.push(String(payload))))
    await page.goto(shop.url)
    // Wait for the products.
    await expect(page.getByRole('row').filter({ hasText: 'Metro ISP' })).toBeVisible({ timeout: 60_000 })
    await page.evaluate(() => Object.assign(globalThis, { stays: true }))
    touch('apps/web/src/app/footer.tsx')
    await expect
      .poll(() => updates.some(frame => frame.includes('"update"') && frame.includes('footer.tsx')))
      .toBe(true)
    await expect(page.locator('footer')).toBeVisible()
    expect(await page.evaluate(() => 'stays' in globalThis)).toBe(true)

    const changed = 'apps/server/src/infra/http/health.ts'
    touch(changed)
    await expect.poll(output).toContain(`The shop starts again: ${changed} changed`)
    // A call waits for the shop, but less long than a restart can take on a busy machine.
    const status = async () => (await page.request.get(`${shop.url}/readyz`)).status()
    await expect.poll(status, { timeout: 120_000 }).toBe(200)
  } finally {
    expect(await stop()).toBe(0)
  }
})
