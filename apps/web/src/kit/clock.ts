import { useSyncExternalStore } from 'react'

/** Milliseconds between two ticks. */
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
  // The clock may be older than an event that just happened, so update it now.
  if (Date.now() - now >= 1000) tick()
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The time of the last tick, shared by everything that shows how long ago something was. */
export const useClock = (): number => useSyncExternalStore(subscribe, () => now)
