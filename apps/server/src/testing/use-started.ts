import { afterAll, beforeAll } from 'vitest'

/**
 * Starts something for the tests of a file or a `describe`, and closes it after them.
 * @returns the started object, whose properties exist once the tests begin
 */
export function useStarted<T extends object & { close?(): unknown }>(start: () => Promise<T>): T {
  const started = {} as T
  beforeAll(async () => {
    Object.assign(started, await start())
  })
  afterAll(() => started.close?.())
  return started
}
