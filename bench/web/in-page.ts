import type { Locator, Page } from '@playwright/test'

/** The globals of the page used here. Node programs have no DOM types. */
type InPage = {
  document: { body: unknown }
  requestAnimationFrame(callback: () => void): void
  addEventListener(event: string, listener: (event: { timeStamp: number }) => void, options: object): void
  MutationObserver: new (callback: () => void) => { observe(target: unknown, what: object): void; disconnect(): void }
  paints: { largest: number; shift: number }
}
type Entry = { startTime: number; value: number; hadRecentInput: boolean }

/** Milliseconds after which a click counts as unanswered. */
const NO_ANSWER = 5_000
/** Milliseconds for which a button is pressed. */
const PRESSED = 80

/** Records the largest paint and the sum of layout shifts of each page opened from now on. */
export async function watchPaints(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const paints = { largest: 0, shift: 0 }
    Object.assign(globalThis, { paints })
    const watch = (type: string, take: (entry: Entry) => void) =>
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) take(entry as unknown as Entry)
      }).observe({ type, buffered: true } as never)
    watch('largest-contentful-paint', entry => (paints.largest = entry.startTime))
    watch('layout-shift', entry => {
      if (!entry.hadRecentInput) paints.shift += entry.value
    })
  })
}

/** Milliseconds to the largest contentful paint, and the sum of all layout shifts, an upper bound of CLS. */
export const paintsOf = (page: Page): Promise<{ largest: number; shift: number }> =>
  page.evaluate(() => (globalThis as unknown as InPage).paints)

/**
 * Clicks like a user: hovers, presses and releases. The page waits for its first painted change.
 * @returns milliseconds from the browser's click to that paint
 */
export async function answerAfterClick(target: Locator): Promise<number> {
  const answered = await target.page().evaluateHandle(noAnswer => {
    const page = globalThis as unknown as InPage
    return {
      answer: new Promise<number>(done => {
        const wait = ({ timeStamp }: { timeStamp: number }) => {
          const observer = new page.MutationObserver(() => {
            observer.disconnect()
            // The frame callback runs before the paint, a timeout in it after.
            page.requestAnimationFrame(() => setTimeout(() => done(performance.now() - timeStamp)))
          })
          observer.observe(page.document.body, {
            subtree: true,
            childList: true,
            attributes: true,
            characterData: true
          })
          setTimeout(() => done(noAnswer), noAnswer)
        }
        // Capture, to run before the page's own handlers.
        page.addEventListener('click', wait, { capture: true, once: true })
      })
    }
  }, NO_ANSWER)
  await target.click({ delay: PRESSED })
  return answered.evaluate(({ answer }) => answer)
}
