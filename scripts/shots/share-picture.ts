import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Browser } from '@playwright/test'

const WIDTH = 1200
const HEIGHT = 630
/** Pixels of a block of the mosaic, and the distance between blocks. */
const BLOCK = 30
const STEP = 42

/** The logo's blocks in the mosaic: an N. */
const LETTER = ['1.....1', '11....1', '1.1...1', '1..1..1', '1...1.1', '1....11', '1.....1']

const columns = Math.floor(WIDTH / STEP)
const rows = Math.floor(HEIGHT / STEP)
const left = columns - 7 - 3
const top = Math.floor((rows - 7) / 2)

/** Draws apps/web/public/share.png, the preview picture for links to the shop. */
export async function drawSharePicture(browser: Browser): Promise<string> {
  const path = fileURLToPath(new URL('../../apps/web/public/share.png', import.meta.url))
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } })
  const words = JSON.parse(await readFile(new URL('../../apps/web/src/i18n/en.json', import.meta.url), 'utf8'))
  await page.setContent(`<style>
    @font-face { font-family: Geist; font-weight: 100 900; src: url(data:font/woff2;base64,${await font()}) }
    body { margin: 0; background: #0d1c1b; color: #fff; font-family: Geist }
    div { position: absolute; left: 72px; top: 50%; width: 560px; transform: translateY(-50%); text-wrap: balance }
    h1 { margin: 0; font-size: 104px; font-weight: 650; line-height: 1; letter-spacing: -0.04em }
    p { margin: 32px 0 0; font-size: 38px; line-height: 1.3; letter-spacing: -0.02em }
  </style>${mosaic()}<div><h1>Netlet</h1><p>${words['landing.title']}</p></div>`)
  await page.evaluate('document.fonts.ready')
  await page.screenshot({ path })
  await page.close()
  return path
}

async function font(): Promise<string> {
  const file = '@fontsource-variable/geist/files/geist-latin-wght-normal.woff2'
  return (await readFile(createRequire(import.meta.url).resolve(file))).toString('base64')
}

/** A mosaic that is the same in each drawing, with the letter on the right and nothing behind the words. */
function mosaic(): string {
  const blocks = Array.from({ length: columns * rows }, (_, at) => {
    const [x, y] = [at % columns, Math.floor(at / columns)]
    if (x < left - 2) return ''
    const lit = LETTER[y - top]?.[x - left] === '1'
    const opacity = lit ? 1 : 0.05 + (((x * 7919 + y * 104_729) >>> 2) % 7) * 0.025
    const place = `x="${x * STEP + 15}" y="${y * STEP + 6}" width="${BLOCK}" height="${BLOCK}"`
    return `<rect ${place} rx="5" fill="#6dccc2" opacity="${opacity.toFixed(3)}"/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">${blocks.join('')}</svg>`
}
