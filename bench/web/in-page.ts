import type { Locator, Page } from '@playwright/test'

/** What of a page's globals is used here: its types are not among those of programs that run on Node. */
type InPage = {
  document: { body: unknown }
  requestAnimationFrame(callback: () => void): void
  addEventListener(event: string, listener: (event: { timeStamp: number }) => void, options: object): void
  MutationObserver: new (callback: () => void) => { observe(target: unknown, what: object): void; disconnect(): void }
  paints: { largest: number; shift: number }
}
type Entry = { startTime: number; value: number; hadRecentInput: boolean }

/** Milliseconds after which a click counts as one without an answer. */
const NO_ANSWER = 5_000
/** Milliseconds for which a button is pressed. */
const PRESSED = 80

/** From now on, each page that is opened keeps its largest paint and the sum of its shifts. */
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

/** Milliseconds to the largest contentful paint, and the sum of all layout shifts: no window of them has more. */
export const paintsOf = (page: Page): Promise<{ largest: number; shift: number }> =>
  page.evaluate(() => (globalThis as unknown as InPage).paints)

/**
 * Clicks as a finger or a mouse does: comes over the target, presses, and lets go. The page itself waits for the first change of
 * what it shows, painted.
 * @returns milliseconds from the browser's click to that picture
 */
export async function answerAfterClick(target: Locator): Promise<number> {
  const answered = await target.page().evaluateHandle(noAnswer => {
    const page = globalThis as unknown as InPage
    return {
      answer: new Promise<number>(done => {
        const wait = ({ timeStamp }: { timeStamp: number }) => {
          const observer = new page.MutationObserver(() => {
            observer.disconnect()
            // A frame begins before its picture: what follows it comes after.
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
        // Before the page itself hears of it.
        page.addEventListener('click', wait, { capture: true, once: true })
      })
    }
  }, NO_ANSWER)
  await target.click({ delay: PRESSED })
  return answered.evaluate(({ answer }) => answer)
}
