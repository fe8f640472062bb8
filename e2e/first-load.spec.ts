import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from './shop.ts'

/** Bytes of JavaScript and CSS, compressed, that a visitor's first page may take. */
const MOST = 150_000

test('the landing page takes at most 150 kB of code, and none of the console', async ({ page, shop }) => {
  const bodies = new Map<string, Promise<string>>()
  page.on('response', response => {
    const path = new URL(response.url()).pathname
    if (/\.(js|css)$/.test(path)) bodies.set(path, response.text())
  })
  await page.goto(shop.url)
  await expect(page.getByRole('row').filter({ hasText: 'Metro ISP' })).toBeVisible()
  await page.waitForLoadState('networkidle')

  const files = await Promise.all([...bodies].map(async ([path, text]) => ({ path, text: await text })))
  const sizes = files.map(({ path, text }) => ({ path, bytes: gzipSync(text, { level: 9 }).length }))
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const largest = sizes.toSorted((a, b) => b.bytes - a.bytes).map(({ path, bytes }) => `${bytes} ${path}`)
  console.log(`first load: ${total} bytes of gzip in ${sizes.length} files`)
  expect(total, largest.join('\n')).toBeLessThanOrEqual(MOST)

  const words = JSON.parse(await readFile('apps/web/src/i18n/admin.en.json', 'utf8')) as Record<string, string>
  const ofTheConsole = Object.values(words).filter(word => word.length > 60)
  expect(ofTheConsole.length).toBeGreaterThan(50)
  const code = files.map(({ text }) => text).join('\n')
  expect(ofTheConsole.filter(word => code.includes(word))).toEqual([])
})
