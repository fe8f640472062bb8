const cleanups: Array<() => unknown> = []
/** Runs after the file's tests, last registered first. */
export const onEnd = (work: () => unknown): void => {
  cleanups.push(work)
}
/** Does all of it; called after the tests of each file. */
export async function endAll(): Promise<void> {
  for (const work of cleanups.splice(0).toReversed()) await work()
}

/** Waits until a condition holds; fails with its last value after `ms`. */
export async function until<T>(what: string, look: () => T | Promise<T>, ms = 30_000): Promise<NonNullable<T>> {
  const deadline = performance.now() + ms
  for (;;) {
    const value = await look()
    if (value !== undefined && value !== null && value !== false) return value
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** How often the loop comes round while something is done. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const count = (): void => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  await work()
  over = true
  return turns
}
