/** The last work of each key in this process. It never rejects. */
const lines = new Map<string, Promise<unknown>>()

/**
 * Runs work one after the other for each key in this process. Work that locks a key in the database waits here without
 * a connection, so a flood for one key holds one connection.
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
