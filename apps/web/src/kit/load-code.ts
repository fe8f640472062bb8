import { onlineManager } from '@tanstack/react-query'

/** Milliseconds before we stop waiting for code on a slow connection. */
const PATIENCE = 45_000

/** Loads code. Offline it fails without a request, because browsers cache a failure until the page reloads. */
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
