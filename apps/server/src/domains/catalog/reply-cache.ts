import { LRUCache } from 'lru-cache'
import type { Clock } from '../../infra/clock.ts'

/** Whole replies, as the bytes that go out. */
export type ReplyCache = {
  /** The bytes for `key`, made again where they are older than the cache allows. Made once at a time for a key. */
  get(key: string, make: () => Promise<unknown>): Promise<Buffer>
  /** Forgets everything: after a change that shoppers should see at once. */
  clear(): void
}

type Entry = { bytes: Buffer; at: number }

/**
 * Keeps the most recently asked replies for `ttl` ms, at most `maxEntries` and `maxBytes` of them. Anyone may invent
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
      // A negative age: the clock was set back.
      if (entry && age >= 0 && age < ttl) return entry.bytes
      const running = making.get(key)
      if (running) return running
      const startedIn = generation
      const made = make()
        .then(reply => {
          const built = Buffer.from(JSON.stringify(reply))
          // Read before the change that cleared the cache: right for those who asked before it, for nobody after.
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
