import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Locator, type Page, chromium } from '@playwright/test'
import { createUser, SESSION_COOKIE } from '../../apps/server/src/domains/accounts/index.ts'
import { SYSTEM } from '../../apps/server/src/infra/actor.ts'
import { readConfig } from '../../apps/server/src/infra/config.ts'
import { openApp } from '../../apps/server/src/open-app.ts'
import { addSession } from '../../apps/server/src/testing/session.ts'
import { findBrowser } from '../../e2e/browser.ts'
import { openBenchDatabase } from '../database.ts'
import { median, quantile, type Bench, type Figure } from '../figures.ts'
import { fill } from '../lists/dataset.ts'

/** The globals of the page used here. Node programs have no DOM types. */
type InPage = {
  document: { querySelectorAll(selector: string): Iterable<{ dataset: { row?: string } }> }
  requestAnimationFrame(callback: () => void): void
  delays: number[]
}

/**
 * Clicks, and waits in the page until other rows are painted.
 * @returns milliseconds
 */
async function rowsAfterClick(target: Locator): Promise<number> {
  return target.evaluate(element => {
    const page = globalThis as unknown as InPage
    const rows = () => [...page.document.querySelectorAll('tr[data-row]')].map(({ dataset }) => dataset.row).join()
    const before = rows()
    const start = performance.now()
    return new Promise<number>(done => {
      const look = () => {
        const now = rows()
        if (now === '' || now === before) page.requestAnimationFrame(look)
        // The frame callback runs before the paint, a timeout in it after.
        else page.requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)))
      }
      ;(element as unknown as { click(): void }).click()
      page.requestAnimationFrame(look)
    })
  })
}

/**
 * Types a text, 40 ms a key, while the list refetches.
 * @returns milliseconds from each key to the next paint, as the browser measures them; 16 if it was faster
 */
async function delayOfKeys(page: Page, field: Locator, text: string): Promise<number[]> {
  await field.click()
  await page.evaluate(() => {
    const delays: number[] = []
    Object.assign(globalThis, { delays })
    const observer = new PerformanceObserver(list => {
      for (const { name, duration } of list.getEntries()) if (name === 'keydown') delays.push(duration)
    })
    // The browser reports only events of 16 ms or more.
    observer.observe({ type: 'event', durationThreshold: 16 } as never)
  })
  await field.pressSequentially(text, { delay: 40 })
  await page.waitForLoadState('networkidle')
  const delays = await page.evaluate(() => (globalThis as unknown as InPage).delays)
  return [...delays, ...Array.from({ length: Math.max(0, text.length - delays.length) }, () => 16)]
}

const ROWS = { rows: 1_000_000, users: 100_000 }
const ROUNDS = 20
/** Milliseconds. */
const FIRST_ROWS = 200
const KEY = 100
const SCREENS = { orders: 'orders', users: 'userList', 'gift cards': 'giftcard', 'audit log': 'audit' }

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))

/** The console in a real browser over 1,000,000 orders: from a click to painted rows, and the delay of each key. */
export const consoleBench: Bench = async log => {
  await promisify(execFile)(process.execPath, [path('scripts/build-web.ts')])
  const database = await openBenchDatabase()
  let shop: ChildProcess | undefined
  try {
    await fill(database.url, ROWS, log)
    const env = {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: database.url,
      APP_SECRET: 'a secret of the benchmarks and of nothing else',
      PORT: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'silent',
      NETLET_DEMO: '1'
    }
    const session = await adminSession(env)
    shop = fork(path('apps/server/src/main.ts'), ['serve'], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const [{ port }] = (await once(shop, 'message')) as [{ port: number }]
    const browser = await chromium.launch(await findBrowser())
    try {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
      const url = `http://127.0.0.1:${port}`
      await context.addCookies([{ name: SESSION_COOKIE, value: session, url }])
      log(`${database.version}, load before: ${load()}`)
      const figures = await measure(await context.newPage(), `${url}/dashboard/index`)
      log(`load after: ${load()}`)
      return figures
    } finally {
      await browser.close()
    }
  } finally {
    if (shop && shop.exitCode === null) {
      shop.kill('SIGTERM')
      await once(shop, 'exit')
    }
    await database.drop()
  }
}

async function adminSession(env: Record<string, string>): Promise<string> {
  const { ctx, close } = await openApp(readConfig(env), { worker: false })
  try {
    const user = { username: 'boss', email: 'boss@example.com', password: 'Harbour#2026', isSuperuser: true }
    const made = await createUser(ctx, SYSTEM, user)
    if (!made.ok) throw new Error(made.reason)
    return await addSession(ctx, made.data.id)
  } finally {
    await close()
  }
}

async function measure(page: Page, console: string): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [what, name] of Object.entries(SCREENS)) {
    const entry = page.locator(`#side-menu a[href$="/${name}"]`)
    const times = await repeat(async () => {
      // Reload each time, so that the screen and its rows are not cached in the page.
      await page.goto(`${console}/home`)
      await page.waitForLoadState('networkidle')
      return rowsAfterClick(entry)
    })
    figures.push(figure(`${what}: click in the menu to the first rows`, times, FIRST_ROWS))
    const early = await repeat(async () => {
      await page.goto(`${console}/home`)
      return rowsAfterClick(entry)
    })
    figures.push(figure(`${what}: the same as soon as the menu is there, while the home screen loads`, early))
  }
  await page.goto(`${console}/orders`)
  const next = page.getByRole('button', { name: /^Next/ })
  figures.push(figure('orders: click on Next to its rows', await repeat(() => rowsAfterClick(next)), FIRST_ROWS))
  await page.goto(`${console}/orders`)
  const amount = page.locator('th button', { hasText: 'Amount' })
  figures.push(
    figure('orders: click on Amount to the sorted rows', await repeat(() => rowsAfterClick(amount)), FIRST_ROWS)
  )
  const keys: number[] = []
  for (const text of ['quartz special', 'residential', 'zebra', 'no such thing']) {
    await page.goto(`${console}/orders`)
    keys.push(...(await delayOfKeys(page, page.getByRole('searchbox').first(), text)))
  }
  return [...figures, figure('orders: a key typed in the search to its picture', keys, KEY)]
}

async function repeat(round: () => Promise<number>): Promise<number[]> {
  const times: number[] = []
  for (let n = -2; n < ROUNDS; n += 1) {
    const time = await round()
    if (n >= 0) times.push(time)
  }
  return times
}

function figure(what: string, times: number[], goal?: number): Figure {
  const late = quantile(times, 0.95)
  const measured = `${Math.round(median(times))} / ${Math.round(late)} ms`
  return goal === undefined
    ? { what, measured, goal: '–', met: null }
    : { what, measured, goal: `p95 ≤ ${goal} ms`, met: late <= goal }
}

const load = () => loadavg()[0]?.toFixed(1)
