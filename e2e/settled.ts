import type { Page } from '@playwright/test'

/**
 * Counts the calls of each page that is opened from now on, for `settled`. Its browser is never idle: else each page would
 * load the code of all others ahead.
 */
export const countCalls = (page: Page): Promise<unknown> =>
  page.addInitScript(`{
    const { fetch } = window
    window.openCalls = 0
    window.requestIdleCallback = () => 0
    window.fetch = (...call) => {
      window.openCalls += 1
      return fetch(...call).finally(() => (window.openCalls -= 1))
    }
  }`)

/**
 * Runs in the page: waits until no call is open, nothing is loading, and nothing fades or slides, in three pictures in a
 * row. What moves without end, as a spinner does, does not count.
 */
const STANDS_STILL = `(async () => {
  const isMoving = ({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity
  const isBusy = () =>
    window.openCalls > 0 ||
    document.body.hasAttribute('data-going') ||
    document.querySelector('.mantine-Skeleton-root, [aria-busy="true"]') !== null ||
    document.getAnimations().some(isMoving)
  const end = performance.now() + 30_000
  for (let calm = 0; calm < 3; calm = isBusy() ? 0 : calm + 1) {
    if (performance.now() > end) return [
      window.openCalls > 0 ? 'calls that are not answered' : '',
      ...[...document.querySelectorAll('.mantine-Skeleton-root, [aria-busy="true"]')].map(one => one.outerHTML.slice(0, 200)),
      ...document.getAnimations().filter(isMoving).map(one => one.animationName ?? one.transitionProperty)
    ].join('; ')
    await new Promise(done => requestAnimationFrame(done))
  }
  return ''
})()`

/** Waits until the page has what it asked for, and stands still. */
export async function settled(page: Page): Promise<void> {
  const left = await page.evaluate<string>(STANDS_STILL)
  if (left) throw new Error(`${page.url()} does not come to rest: ${left}`)
}

/** Goes to another screen as a link of the app does: without loading the page anew. */
export const goWithin = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`)
