import { useSyncExternalStore } from 'react'

/** Milliseconds between two looks at the clock. */
export const TICK = 10_000

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK)
  // What has just happened lies after the last look at the clock.
  if (Date.now() - now >= 1000) tick()
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The time, to the last look at it: the same for all that says how long ago something was. */
export const useClock = (): number => useSyncExternalStore(subscribe, () => now)
