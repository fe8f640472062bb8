/** What is under way in this process for a key, or the last of those that wait for it. It never rejects. */
const lines = new Map<string, Promise<unknown>>()

/**
 * Does work after all that was asked for before it, in this process, for one of the same keys. Work that locks a key in the
 * database waits so without a connection: however many there are at once, they hold one connection, and others find one free.
 */
export async function inLine<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
  const done = Promise.all(keys.map(async key => lines.get(key))).then(work)
  const ended = done.catch(() => {})
  for (const key of keys) lines.set(key, ended)
  try {
    return await done
  } finally {
    for (const key of keys) if (lines.get(key) === ended) lines.delete(key)
  }
}
