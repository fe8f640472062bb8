// Draws apps/web/public/share.png, which other programs show beside a link to the shop: `node scripts/share-picture.ts`.
import { fileURLToPath } from 'node:url'
import { chromium } from '@playwright/test'
import { findBrowser } from '../e2e/browser.ts'

const WIDTH = 1200
const HEIGHT = 630
/** Pixels of a block of the mosaic, and from one to the next. */
const BLOCK = 30
const STEP = 42

/** The logo's blocks, as they stand in the mosaic: an N. */
const LETTER = ['1.....1', '11....1', '1.1...1', '1..1..1', '1...1.1', '1....11', '1.....1']

const columns = Math.floor(WIDTH / STEP)
const rows = Math.floor(HEIGHT / STEP)
const left = Math.floor((columns - 7) / 2)
const top = Math.floor((rows - 7) / 2)
const blocks = Array.from({ length: columns * rows }, (_, at) => {
  const [x, y] = [at % columns, Math.floor(at / columns)]
  const lit = LETTER[y - top]?.[x - left] === '1'
  // A pattern that looks like a range in use, the same at each drawing.
  const opacity = lit ? 1 : 0.05 + (((x * 7919 + y * 104_729) >>> 2) % 7) * 0.025
  const place = `x="${x * STEP + 15}" y="${y * STEP + 6}" width="${BLOCK}" height="${BLOCK}"`
  return `<rect ${place} rx="5" fill="#fff" opacity="${opacity.toFixed(3)}"/>`
})
const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
  <rect width="100%" height="100%" fill="#0b6c64"/>${blocks.join('')}</svg>`

const browser = await chromium.launch(await findBrowser())
const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } })
await page.setContent(`<body style="margin:0">${picture}`)
await page.screenshot({ path: fileURLToPath(new URL('../apps/web/public/share.png', import.meta.url)) })
await browser.close()
