/** Runs `work` on each item, at most `limit` of them at a time. The first exception ends it. */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>
): Promise<void> {
  const waiting = items[Symbol.iterator]()
  const takeTurns = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: limit }, takeTurns))
}
