import { utimesSync } from 'node:fs'
import { freePorts } from '../apps/server/src/testing/free-ports.ts'
import { startProgram, untilAnswers } from '../scripts/demo/programs.ts'
import { expect, test } from './shop.ts'

/** Tells watchers that a file changed, and changes nothing in it. */
const touch = (file: string) => utimesSync(new URL(`../${file}`, import.meta.url), new Date(), new Date())

test('the dev server changes the open page without a reload, and passes calls on to the shop', async ({
  page,
  shop
}) => {
  const [port = 0] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const program = startProgram('The dev server', ['scripts/dev/web.ts'], { PORT: String(port), SHOP_URL: shop.url })
  try {
    expect(await untilAnswers(url, program, 120_000)).toBe(true)
    const updates: string[] = []
    page.on('websocket', socket => socket.on('framereceived', ({ payload }) => updates.push(String(payload))))
    await page.goto(url)
    // What the shop sells.
    await expect(page.getByRole('row').filter({ hasText: 'Metro ISP' })).toBeVisible({ timeout: 60_000 })
    await page.evaluate(() => Object.assign(globalThis, { stays: true }))
    touch('apps/web/src/app/footer.tsx')
    await expect
      .poll(() => updates.some(frame => frame.includes('"update"') && frame.includes('footer.tsx')))
      .toBe(true)
    await expect(page.locator('footer')).toBeVisible()
    expect(await page.evaluate(() => 'stays' in globalThis)).toBe(true)
  } finally {
    await program.stop()
  }
})
