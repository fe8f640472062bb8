import { utimesSync } from 'node:fs'
import { expect, startShop, test } from './shop.ts'

/** Tells watchers that a file changed, and changes nothing in it. */
const touch = (file: string) => utimesSync(new URL(`../${file}`, import.meta.url), new Date(), new Date())

test('npm run dev changes the open page without a reload, and starts the shop again on a change', async ({ page }) => {
  test.setTimeout(180_000)
  const { shop, output, stop } = await startShop({ dev: true })
  try {
    const updates: string[] = []
    page.on('websocket', socket => socket.on('framereceived', ({ payload }) => updates.push(String(payload))))
    await page.goto(shop.url)
    await expect(page.locator('footer')).toBeVisible({ timeout: 60_000 })
    await page.evaluate(() => Object.assign(globalThis, { stays: true }))
    touch('apps/web/src/app/footer.tsx')
    await expect
      .poll(() => updates.some(frame => frame.includes('"update"') && frame.includes('footer.tsx')))
      .toBe(true)
    await expect(page.locator('footer')).toBeVisible()
    expect(await page.evaluate(() => 'stays' in globalThis)).toBe(true)

    touch('apps/server/src/infra/http/health.ts')
    await expect.poll(output).toContain('The shop starts again: apps/server/src/infra/http/health.ts')
    // A call waits for the shop instead of failing while it starts.
    const reply = await page.request.get(`${shop.url}/api/products?limit=1`)
    expect(reply.headers()['content-type']).toContain('application/json')
    expect(reply.status()).toBeLessThan(500)
  } finally {
    expect(await stop()).toBe(0)
  }
})
