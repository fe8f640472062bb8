import type { Page } from '@playwright/test'

/**
 * Counts the calls of each page opened from now on, for `settled`. It also keeps the browser from being idle, because
 * otherwise each page would preload the code of all others.
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
 * Runs in the page: waits until no call is open, nothing loads and nothing is animated in three consecutive frames.
 * Endless animations, such as spinners, do not count.
 */
const STANDS_STILL = `(async () => {
  const isMoving = ({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity
  const isBusy = () =>
    window.openCalls > 0 ||
    document.body.hasAttribute('data-going') ||
    document.querySelector('.mantine-Skeleton-root, [aria-busy="true"]') !== null ||
    document.getAnimations().some(isMoving)
  const end = performance.now() + 90_000
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

/** Waits until the page has loaded and is still. */
export async function settled(page: Page): Promise<void> {
  const left = await page.evaluate<string>(STANDS_STILL)
  if (left) throw new Error(`${page.url()} does not come to rest: ${left}`)
}

/** Navigates like a link of the app, without reloading the page. */
export const goWithin = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`)
