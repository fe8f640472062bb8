import type { Locator, Page } from '@playwright/test'

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
export async function delayOfKeys(page: Page, field: Locator, text: string): Promise<number[]> {
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
