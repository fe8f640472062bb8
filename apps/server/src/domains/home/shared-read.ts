import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../infra/clock.ts'

/**
 * A read shared by all calls within `ttl` milliseconds, and by calls while it runs. Its waiting callers get a failure,
 * which is not cached.
 * @param changes how many changes this process has heard of: a call after a change waits for the next read, when `ttl`
 * is over; without it, a cached read is good enough
 */
export function sharedRead<T>(
  now: Clock,
  ttl: number,
  read: () => Promise<T>,
  changes: () => number = () => 0
): () => Promise<T> {
  type Read = { at: number; seen: number; value: Promise<T> }
  let last: Read | undefined
  let next: Promise<T> | undefined

  const start = (): Promise<T> => {
    // Drizzle runs a count's query each time that it is awaited; a promise of it runs once.
    const started: Read = { at: now().getTime(), seen: changes(), value: Promise.resolve(read()) }
    started.value.catch(() => {
      if (last === started) last = undefined
    })
    last = started
    return started.value
  }
  const startAfter = async (pause: number): Promise<T> => {
    await sleep(pause)
    next = undefined
    return start()
  }
  return () => {
    const age = last ? now().getTime() - last.at : ttl
    // A negative age means that the clock was set back.
    if (!last || age < 0 || age >= ttl) return next ?? start()
    if (last.seen === changes()) return last.value
    return (next ??= startAfter(ttl - age))
  }
}
