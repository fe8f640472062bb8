import { useSyncExternalStore } from 'react'

let connected = false
const listeners = new Set<() => void>()

/** Records whether the change feed is connected. Polling slows down while it is. */
export function setFeedConnected(value: boolean): void {
  if (connected === value) return
  connected = value
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Milliseconds. We still poll because an event can be lost when a server process ends. */
const SLOW = 30_000

/** The poll interval in milliseconds: `fast` without the change feed, slow with it. */
export const usePollInterval = (fast: number): number =>
  useSyncExternalStore(subscribe, () => connected) ? Math.max(SLOW, fast) : fast
