import { loadavg } from 'node:os'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from '@playwright/test'
import { findBrowser } from '../../e2e/browser.ts'
import { countLoads } from '../../e2e/first-load.ts'
import { startShop, type RunningShop } from '../../e2e/shop.ts'
import { median, quantile, type Bench, type Figure } from '../figures.ts'
import { answerAfterClick, paintsOf, watchPaints } from './in-page.ts'

const ROUNDS = 9
const WIDTHS = [390, 1440]
/** 1.6 Mbit/s down, half of it up, 150 ms round trip, and a CPU four times slower. */
const LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 }
const SLOWDOWN = 4
/** Bytes; milliseconds; layout shift; milliseconds. */
const MOST = { code: 150_000, paint: 1500, shift: 0.05, click: 100 }

const PROXIES = '/dashboard/index/proxies'
const PAGES = { landing: '/', 'all products': '/product', 'one product': '/product?id=1', proxies: PROXIES }

type Click = { what: string; at: string; target: (page: Page) => Locator }
const CLICKS: Click[] = [
  { what: 'link to the products', at: '/', target: page => page.locator('header a[href="/product"]').first() },
  { what: 'menu of languages', at: '/', target: page => page.getByRole('button', { name: 'Language' }) },
  { what: 'another language', at: '/', target: page => page.getByRole('contentinfo').getByText('简体中文') },
  { what: 'login that lacks all', at: '/login', target: page => page.locator('main button[type=submit]').first() },
  { what: 'check of proxies', at: PROXIES, target: page => page.getByRole('button', { name: 'Check', exact: true }) },
  { what: 'entry of the menu', at: PROXIES, target: page => page.locator('#side-menu a[href$="/setting"]') }
]

/** The shop in a real browser on a slow line and machine: first load, paints, and answers to clicks. */
export const webBench: Bench = async log => {
  const { shop, stop } = await startShop({ history: true })
  try {
    const browser = await chromium.launch(await findBrowser())
    try {
      log(`load before: ${load()}`)
      const figures = [
        ...(await bytes(browser, shop)),
        await largestPaint(browser, shop),
        ...(await shifts(browser, shop)),
        ...(await clicks(browser, shop))
      ]
      log(`load after: ${load()}`)
      return figures
    } finally {
      await browser.close()
    }
  } finally {
    await stop()
  }
}

async function bytes(browser: Browser, shop: RunningShop): Promise<Figure[]> {
  const page = await browser.newPage()
  const loaded = countLoads(page)
  await page.goto(shop.url, { waitUntil: 'networkidle' })
  const { codeBytes, code, fontBytes } = await loaded()
  await page.close()
  const what = `landing page: JavaScript and CSS by gzip, in ${code.length} files`
  return [
    { what, measured: kilobytes(codeBytes), goal: `≤ ${kilobytes(MOST.code)}`, met: codeBytes <= MOST.code },
    { what: 'landing page: font, beside them', measured: kilobytes(fontBytes), goal: '–', met: null }
  ]
}

async function largestPaint(browser: Browser, shop: RunningShop): Promise<Figure> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page, context } = await slowPage(browser, shop, 390)
    await page.goto(shop.url, { waitUntil: 'networkidle' })
    times.push((await paintsOf(page)).largest)
    await context.close()
  }
  return inMilliseconds('landing page: largest contentful paint', times, MOST.paint, median(times))
}

async function shifts(browser: Browser, shop: RunningShop): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, path] of Object.entries(PAGES))
    for (const width of WIDTHS) {
      const { page, context } = await slowPage(browser, shop, width, path === PROXIES)
      await page.goto(shop.url + path, { waitUntil: 'networkidle' })
      const { shift } = await paintsOf(page)
      await context.close()
      const what = `${name}, ${width} px: layout shift`
      figures.push({ what, measured: shift.toFixed(3), goal: `≤ ${MOST.shift}`, met: shift <= MOST.shift })
    }
  return figures
}

async function clicks(browser: Browser, shop: RunningShop): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { what, at, target } of CLICKS) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      // Reload each time, so that nothing is cached in the page.
      const { page, context } = await slowPage(browser, shop, 1440, at === PROXIES)
      await page.goto(shop.url + at, { waitUntil: 'networkidle' })
      times.push(await answerAfterClick(target(page)))
      await context.close()
    }
    figures.push(inMilliseconds(`click to its first answer: ${what}`, times, MOST.click, quantile(times, 0.95)))
  }
  return figures
}

async function slowPage(
  browser: Browser,
  shop: RunningShop,
  width: number,
  signedIn = false
): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({ viewport: { width, height: width < 768 ? 844 : 900 } })
  if (signedIn) {
    const { customer: data, url: origin } = shop
    const reply = await context.request.post(`${origin}/api/auth/login`, { headers: { origin }, data })
    if (!reply.ok()) throw new Error(await reply.text())
  }
  const page = await context.newPage()
  await watchPaints(page)
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', LINE)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  return { page, context }
}

/** @param counts the figure compared with the goal: the median of loads, the 95th percentile of clicks */
function inMilliseconds(what: string, times: number[], goal: number, counts: number): Figure {
  const measured = `${Math.round(median(times))} / ${Math.round(quantile(times, 0.95))} ms`
  return { what, measured, goal: `≤ ${goal} ms`, met: counts <= goal }
}

const kilobytes = (count: number) => `${(count / 1000).toFixed(1)} kB`
const load = () => loadavg()[0]?.toFixed(1)
