import { queryClient } from '../api/query.ts'
import { preloadOverlays } from '../kit/overlays.tsx'
import type { screens } from './manifest.ts'

export type Screen = (typeof screens)[number]

/** Milliseconds to wait in browsers without `requestIdleCallback`. */
const IDLE = 200

/** @returns whether the code loaded. If not, opening the screen retries and reports the failure. */
export async function loadScreen({ page }: Screen): Promise<boolean> {
  try {
    await page.preload?.()
    return true
  } catch {
    return false
  }
}

/**
 * Loads the code for messages, then these screens one by one while the browser is idle and no request is in flight.
 * They then open without a connection too.
 * @returns stops loading
 */
export function loadWhenIdle(wanted: readonly Screen[]): () => void {
  let ended = false
  const loadInTurn = async () => {
    for (const [at, screen] of wanted.entries()) {
      // What the user has just clicked comes first.
      await answers()
      await idleness()
      if (ended) return
      if (at === 0) preloadOverlays()
      if (!(await loadScreen(screen))) return
    }
  }
  void loadInTurn()
  return () => {
    ended = true
  }
}

/** Waits until no query is in flight. */
const answers = () =>
  new Promise<void>(done => {
    if (queryClient.isFetching() === 0) return done()
    const end = queryClient.getQueryCache().subscribe(() => {
      if (queryClient.isFetching() > 0) return
      end()
      done()
    })
  })

const idleness = () =>
  new Promise<void>(done => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => done())
    else setTimeout(done, IDLE)
  })
