import { availableParallelism } from 'node:os'

/** Work that takes its turn, so that only so much of it runs at once. */
export type Turns = {
  /** @param first before all that wait without it */
  take<T>(work: () => Promise<T>, options?: { first?: boolean }): Promise<T>
  /** Does so much wait that one more would wait for too long? */
  isFull(): boolean
}

/**
 * How much heavy work may run at once: a core stays free for requests, and two of the four threads that Node has for such work. What
 * waits for a thread keeps files, names of hosts and pictures waiting behind it, for as long as all of it takes.
 */
export const HEAVY_AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1))

/**
 * @param atOnce so much runs at once
 * @param longest so much waits before it is full
 */
export function createTurns({ atOnce, longest }: { atOnce: number; longest: number }): Turns {
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
        // Its place is handed on: nothing that comes meanwhile gets before what waits.
        const begin = ahead.shift() ?? others.shift()
        if (begin) begin()
        else running--
      }
    },
    isFull: () => ahead.length + others.length >= longest
  }
}
