import type { Locator, Page } from '@playwright/test'

/** What of a page's globals is used here: its types are not among those of programs that run on Node. */
type InPage = {
  document: { querySelectorAll(selector: string): Iterable<{ dataset: { row?: string } }> }
  requestAnimationFrame(callback: () => void): void
  delays: number[]
}

/**
 * Clicks, and waits in the page itself for other rows than those that were there, painted.
 * @returns milliseconds
 */
export async function rowsAfterClick(target: Locator): Promise<number> {
  return target.evaluate(element => {
    const page = globalThis as unknown as InPage
    const rows = () => [...page.document.querySelectorAll('tr[data-row]')].map(({ dataset }) => dataset.row).join()
    const before = rows()
    const start = performance.now()
    return new Promise<number>(done => {
      const look = () => {
        const now = rows()
        if (now === '' || now === before) page.requestAnimationFrame(look)
        // A frame begins before its picture: what follows it comes after.
        else page.requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)))
      }
      ;(element as unknown as { click(): void }).click()
      page.requestAnimationFrame(look)
    })
  })
}

/**
 * Types a text, 40 ms a key, while the list answers what was typed so far.
 * @returns milliseconds from each key to the next picture, as the browser measures them; 16 where it was quicker
 */
export async function delayOfKeys(page: Page, field: Locator, text: string): Promise<number[]> {
  await field.click()
  await page.evaluate(() => {
    const delays: number[] = []
    Object.assign(globalThis, { delays })
    const observer = new PerformanceObserver(list => {
      for (const { name, duration } of list.getEntries()) if (name === 'keydown') delays.push(duration)
    })
    // The browser tells of events from 16 ms on only.
    observer.observe({ type: 'event', durationThreshold: 16 } as never)
  })
  await field.pressSequentially(text, { delay: 40 })
  await page.waitForLoadState('networkidle')
  const delays = await page.evaluate(() => (globalThis as unknown as InPage).delays)
  return [...delays, ...Array.from({ length: Math.max(0, text.length - delays.length) }, () => 16)]
}
