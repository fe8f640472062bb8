/** Signals a process of a takeover. It may have just ended, and its number been freed, before the channel reports it. */
export function signalIfThere(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is already gone.
  }
}
