import { onlineManager } from '@tanstack/react-query'

/** Milliseconds after which code that does not come is given up: a slow line takes its time for it. */
const PATIENCE = 45_000

/**
 * Loads a part of the code. Without a connection it is not even tried: browsers keep the failure of a module for as long as
 * the page is open, so that the part could not be loaded later either.
 */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  if (!onlineManager.isOnline()) throw new Error('there is no connection')
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('the code did not come in time')), PATIENCE)
  })
  try {
    return await Promise.race([load(), late])
  } finally {
    clearTimeout(timer)
  }
}
