/**
 * `npm run shots`: pictures of every screen and state, for review; `npm run shots -- picture` draws the repository's
 * pictures.
 *
 *   --only login,product   these screens (ids of the manifest) and states
 *   --role public,customer,admin   --width 390,1440   --scheme light,dark   --lang en,zh-CN
 *   --out test-results/shots
 *
 * Starts a demo shop with history; SHOTS_URL uses a running one instead.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from '@playwright/test'
import { findBrowser } from '../../e2e/browser.ts'
import { startShop } from '../../e2e/shop.ts'
import { DEMO_ADMIN, DEMO_CUSTOMER } from '../demo/demo-texts.ts'
import { ROLES, shotsOf, someIds, type Ids, type Role } from './screens.ts'
import { drawSharePicture } from './share-picture.ts'
import { states, wordsOf } from './states.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    role: { type: 'string', default: ROLES.join() },
    width: { type: 'string', default: '390,1440' },
    scheme: { type: 'string', default: 'light,dark' },
    lang: { type: 'string', default: 'en,zh-CN' },
    out: { type: 'string', default: 'test-results/shots' }
  }
})
const root = fileURLToPath(new URL('../..', import.meta.url))

const running = process.env['SHOTS_URL']
const started = running ? undefined : await startShop({ history: true })
const url = running ?? started?.shop.url ?? ''
try {
  const browser = await chromium.launch(await findBrowser())
  try {
    if (positionals.includes('picture')) await drawPictures(browser)
    else await drawScreens(browser)
  } finally {
    await browser.close()
  }
} finally {
  await started?.stop()
}

/** The README's picture, and the preview picture for links to the shop. */
async function drawPictures(browser: Browser): Promise<void> {
  const page = await (await browser.newContext(optionsOf(1440, 'light', 'en'))).newPage()
  const path = join(root, 'docs/picture.png')
  await page.goto(url, { waitUntil: 'networkidle' })
  await page.screenshot({ path, animations: 'disabled' })
  console.log(`${path}\n${await drawSharePicture(browser)}`)
}

async function drawScreens(browser: Browser): Promise<void> {
  const [admin, customer] = [await contextOf(browser, 'admin', {}), await contextOf(browser, 'customer', {})]
  const ids = await someIds(admin.request, customer.request)
  await Promise.all([admin.close(), customer.close()])
  let drawn = 0
  for (const role of chosen(values.role, ROLES))
    for (const lang of values.lang.split(','))
      for (const scheme of chosen(values.scheme, ['light', 'dark']))
        for (const width of values.width.split(',').map(Number)) {
          const context = await contextOf(browser, role, optionsOf(width, scheme, lang))
          const page = await context.newPage()
          const folder = join(values.out, `${width}-${scheme}-${lang}`)
          await mkdir(folder, { recursive: true })
          for (const { name, path } of await shotsOf(role, ids)) {
            if (values.only && !values.only.split(',').includes(name)) continue
            await page.goto(path)
            // Pages that follow the change feed are never idle for long, so take the picture after the timeout.
            await page.waitForLoadState('networkidle', { timeout: 10_000 }).catch(() => null)
            await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, animations: 'disabled' })
            drawn += 1
          }
          await context.close()
          drawn += await drawStates(browser, { role, lang, scheme, width, folder, ids })
          console.log(folder)
        }
  console.log(`${drawn} pictures in ${values.out}`)
  if (drawn === 0) process.exitCode = 1
}

type Look = { role: Role; lang: string; scheme: 'light' | 'dark'; width: number; folder: string; ids: Ids }

/** Draws each state in its own context. Reports those that fail and continues. */
async function drawStates(browser: Browser, { role, lang, scheme, width, folder, ids }: Look): Promise<number> {
  const word = await wordsOf(lang)
  let drawn = 0
  for (const { name, show } of states.filter(state => state.role === role)) {
    if (values.only && !values.only.split(',').includes(name)) continue
    const context = await contextOf(browser, role, optionsOf(width, scheme, lang))
    context.setDefaultTimeout(20_000)
    const page = await context.newPage()
    const shoot = async (picture: string) => {
      await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => null)
      await page.screenshot({ path: join(folder, `${picture}.png`), animations: 'disabled' })
      drawn += 1
    }
    await show({ page, context, ids, word, shoot }).catch((error: unknown) => {
      console.error(`${name} cannot be shown (${folder}):`, error)
      process.exitCode = 1
    })
    await context.close()
  }
  return drawn
}

/** A realistic viewport height, because it decides what is visible without scrolling. */
function optionsOf(width: number, colorScheme: 'light' | 'dark', locale: string): BrowserContextOptions {
  if (!(width > 0)) throw new Error('--width takes pixels')
  return { viewport: { width, height: width < 768 ? 844 : 900 }, colorScheme, locale }
}

async function contextOf(browser: Browser, role: Role, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ ...options, baseURL: url })
  if (role === 'public') return context
  const { username, password } = role === 'admin' ? DEMO_ADMIN : DEMO_CUSTOMER
  const reply = await context.request.post('/api/auth/login', {
    headers: { origin: url },
    data: { username, password }
  })
  if (!reply.ok()) throw new Error(`${username} cannot log in: ${await reply.text()}`)
  return context
}

function chosen<T extends string>(text: string, of: readonly T[]): T[] {
  return text.split(',').map(word => {
    const found = of.find(one => one === word)
    if (!found) throw new Error(`'${word}' is none of ${of.join(', ')}`)
    return found
  })
}
