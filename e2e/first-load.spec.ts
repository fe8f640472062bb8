import { readFile } from 'node:fs/promises'
import { countLoads } from './first-load.ts'
import { expect, test } from './shop.ts'

/** The budget for a visitor's first page: compressed bytes of JavaScript and CSS. */
const MOST = 150_000
/** The budget for its font in bytes. */
const MOST_OF_FONT = 32_000

test('the landing page takes at most 150 kB of code, and none of the console', async ({ page, shop }) => {
  const loaded = countLoads(page)
  await page.goto(shop.url)
  await expect(page.getByRole('row').filter({ hasText: 'Metro ISP' })).toBeVisible()
  await page.waitForLoadState('networkidle')

  const { code, codeBytes, fonts, fontBytes } = await loaded()
  console.log(`first load: ${codeBytes} bytes of gzip in ${code.length} files, and ${fontBytes} of the font`)
  const largest = code.map(({ path, bytes }) => `${bytes} ${path}`)
  expect(codeBytes, largest.join('\n')).toBeLessThanOrEqual(MOST)

  // The font loads once, so the preload and the stylesheet must name the same file.
  expect(fonts).toEqual([expect.stringMatching(/geist-latin-wght/)])
  expect(await page.locator('link[rel=preload][as=font]').getAttribute('href')).toBe(fonts[0])
  expect(fontBytes).toBeLessThanOrEqual(MOST_OF_FONT)

  const words = JSON.parse(await readFile('apps/web/src/i18n/admin.en.json', 'utf8')) as Record<string, string>
  const ofTheConsole = Object.values(words).filter(word => word.length > 60)
  expect(ofTheConsole.length).toBeGreaterThan(50)
  const all = code.map(({ text }) => text).join('\n')
  expect(ofTheConsole.filter(word => all.includes(word))).toEqual([])
})
