/**
 * Ends a process of a takeover. It may have ended a moment ago, with its end of the channel not heard of yet: whoever reaps it has
 * freed its number by then.
 */
export function signalIfThere(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone already.
  }
}
