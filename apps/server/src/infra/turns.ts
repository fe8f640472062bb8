import { availableParallelism } from 'node:os'

/** Limits how much work runs at once, with fair shares for those that wait. */
export type Turns = {
  /**
   * @param key for whom: keys take turns, so that one with much work delays its own; without a key, the work has a share
   *   of its own
   * @param first of this work and the rest, one runs after the other
   */
  take<T>(work: () => Promise<T>, options?: { key?: string | undefined; first?: boolean }): Promise<T>
  /** Does so much work wait, of this key or of all that do not come first, that no more may come? */
  isFull(options?: { key?: string | undefined; first?: boolean }): boolean
}

/**
 * How many heavy tasks run at once. One core stays free for requests, and two of Node's four pool threads: waiting for
 * a thread delays file access, DNS lookups and image processing too.
 */
export const MAX_HEAVY_TASKS = Math.max(1, Math.min(2, availableParallelism() - 1))

/** A key's work, for the key whose turn is next first. */
type Line = Map<unknown, (() => void)[]>

function nextOf(line: Line): (() => void) | undefined {
  const [next] = line
  if (!next) return undefined
  const [key, work] = next
  line.delete(key)
  const begin = work.shift()
  if (work.length > 0) line.set(key, work)
  return begin
}

const lengthOf = (line: Line): number => [...line.values()].reduce((sum, work) => sum + work.length, 0)

/**
 * @param atOnce how many run at once
 * @param longest how many wait, besides those that come first, before `isFull`
 * @param each how many of one key wait before `isFull`
 */
export function createLimiter({
  atOnce,
  longest,
  each = longest
}: {
  atOnce: number
  longest: number
  each?: number
}): Turns {
  const ahead: Line = new Map()
  const others: Line = new Map()
  let running = 0
  let isAheadNext = true
  const next = () => {
    const [one, two] = isAheadNext ? [ahead, others] : [others, ahead]
    isAheadNext = !isAheadNext
    return nextOf(one) ?? nextOf(two)
  }
  return {
    async take(work, { key, first = false } = {}) {
      if (running < atOnce) running++
      else
        await new Promise<void>(begin => {
          const line = first ? ahead : others
          const own = key ?? begin
          line.set(own, [...(line.get(own) ?? []), begin])
        })
      try {
        return await work()
      } finally {
        // Passes its place on directly, so that a newcomer cannot overtake those that wait.
        const begin = next()
        if (begin) begin()
        else running--
      }
    },
    isFull: ({ key, first = false } = {}) =>
      ((first ? ahead : others).get(key)?.length ?? 0) >= each || (!first && lengthOf(others) >= longest)
  }
}
