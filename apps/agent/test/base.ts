const cleanups: Array<() => unknown> = []
/** Runs `work` after the tests of the file. The last registered runs first. */
export const onEnd = (work: () => unknown): void => {
  cleanups.push(work)
}
/** Runs everything that `onEnd` registered. */
export async function endAll(): Promise<void> {
  for (const work of cleanups.splice(0).toReversed()) await work()
}

/** Waits until `look` returns a value other than false, null or undefined. Throws after `ms` milliseconds. */
export async function until<T>(what: string, look: () => T | Promise<T>, ms = 30_000): Promise<NonNullable<T>> {
  const deadline = performance.now() + ms
  for (let pause = 1; ; pause = Math.min(2 * pause, 10)) {
    const value = await look()
    if (value !== undefined && value !== null && value !== false) return value
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await new Promise(resolve => setTimeout(resolve, pause))
  }
}

/** How many turns the event loop takes while `work` runs. */
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
