import { queryClient } from '../api/query.ts'
import { preloadHosts } from '../kit/hosts.tsx'
import type { screens } from './manifest.ts'

export type Screen = (typeof screens)[number]

/** Milliseconds until a browser that does not tell when it is idle is taken to be. */
const IDLE = 200

/** @returns whether the code is there; where it is not, opening the screen tries again and says so */
export async function loadScreen({ page }: Screen): Promise<boolean> {
  try {
    await page.preload?.()
    return true
  } catch {
    return false
  }
}

/**
 * Loads what draws messages, then the code of these screens, one after the other, whenever the browser is idle and nothing is asked
 * of the server: what is clicked without a connection is answered all the same.
 * @returns how to end it
 */
export function loadWhenIdle(wanted: readonly Screen[]): () => void {
  let ended = false
  const loadInTurn = async () => {
    for (const [at, screen] of wanted.entries()) {
      // What somebody has clicked meanwhile comes first.
      await answers()
      await idleness()
      if (ended) return
      if (at === 0) preloadHosts()
      if (!(await loadScreen(screen))) return
    }
  }
  void loadInTurn()
  return () => {
    ended = true
  }
}

/** Waits until nothing is asked of the server. */
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
