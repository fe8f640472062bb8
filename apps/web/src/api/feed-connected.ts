import { useSyncExternalStore } from 'react'

let connected = false
const listeners = new Set<() => void>()

/** Tells those who poll whether the change feed brings them what changes. */
export function setFeedConnected(value: boolean): void {
  if (connected === value) return
  connected = value
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Milliseconds. The feed is a hint: an event may be lost with a process of the server. */
const SLOW = 30_000

/** How often to ask again (milliseconds): `fast` without the change feed, seldom with it. */
export const usePollInterval = (fast: number): number =>
  useSyncExternalStore(subscribe, () => connected) ? Math.max(SLOW, fast) : fast
