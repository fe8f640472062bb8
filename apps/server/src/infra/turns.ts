import { availableParallelism } from 'node:os'

/** Limits how much work runs at once. */
export type Turns = {
  /** @param first runs before all waiting work without it */
  take<T>(work: () => Promise<T>, options?: { first?: boolean }): Promise<T>
  /** Is the waiting line at its limit? */
  isFull(): boolean
}

/**
 * How many heavy tasks run at once. One core stays free for requests, and two of Node's four pool threads: waiting for
 * a thread delays file access, DNS lookups and image processing too.
 */
export const MAX_HEAVY_TASKS = Math.max(1, Math.min(2, availableParallelism() - 1))

/**
 * @param atOnce how many run at once
 * @param longest how many wait before `isFull`
 */
export function createLimiter({ atOnce, longest }: { atOnce: number; longest: number }): Turns {
  const ahead: (() => void)[] = []
  const others: (() => void)[] = []
  let running = 0
  return {
    async take(work, { first = false } = {}) {
      if (running < atOnce) running++
      else await new Promise<void>(begin => (first ? ahead : others).push(begin))
      try {
        return await work()
      } finally {
        // Passes its place on directly, so that a newcomer cannot overtake those that wait.
        const begin = ahead.shift() ?? others.shift()
        if (begin) begin()
        else running--
      }
    },
    isFull: () => ahead.length + others.length >= longest
  }
}
