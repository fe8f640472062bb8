import { LRUCache } from 'lru-cache'
import type { Clock } from '../../infra/clock.ts'

/** Caches whole replies as bytes. */
export type ReplyCache = {
  /** The bytes for `key`, rebuilt when they are too old. Each key is built once at a time. */
  get(key: string, make: () => Promise<unknown>): Promise<Buffer>
  /** Empties the cache after a change that shoppers must see at once. */
  clear(): void
}

type Entry = { bytes: Buffer; at: number }

/**
 * Keeps recently requested replies for `ttl` ms, at most `maxEntries` and `maxBytes` of them. Clients choose the
 * queries, so both bounds matter.
 */
export function openReplyCache(options: { ttl: number; maxEntries: number; maxBytes: number; now: Clock }): ReplyCache {
  const { ttl, maxEntries, maxBytes, now } = options
  const entries = new LRUCache<string, Entry>({
    max: maxEntries,
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes / 4),
    sizeCalculation: entry => entry.bytes.length
  })
  const making = new Map<string, Promise<Buffer>>()
  let generation = 0

  return {
    async get(key, make) {
      const entry = entries.get(key)
      const age = entry ? now().getTime() - entry.at : ttl
      // A negative age means that the clock was set back.
      if (entry && age >= 0 && age < ttl) return entry.bytes
      const running = making.get(key)
      if (running) return running
      const startedIn = generation
      const made = make()
        .then(reply => {
          const built = Buffer.from(JSON.stringify(reply))
          // A reply read before the cache was cleared goes only to requests from before that.
          if (startedIn === generation) entries.set(key, { bytes: built, at: now().getTime() })
          return built
        })
        .finally(() => {
          if (making.get(key) === made) making.delete(key)
        })
      making.set(key, made)
      return made
    },
    clear() {
      generation++
      entries.clear()
      making.clear()
    }
  }
}
