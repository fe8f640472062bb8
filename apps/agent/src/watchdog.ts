import { execFile } from 'node:child_process'

/** Notifications per deadline, so that a late or lost one does no harm. */
const PARTS = 4
const NOTIFY_TIMEOUT_MS = 10_000

type Env = Readonly<Record<string, string | undefined>>

/**
 * Notifies systemd's watchdog while the agent is healthy; otherwise systemd restarts the service. A loop that hangs sends
 * nothing either. Does nothing if systemd has no watchdog for this service.
 * @returns a function that stops it
 */
export function feedWatchdog(env: Env, healthy: () => boolean): () => void {
  const deadline = Number(env['WATCHDOG_USEC']) / 1000
  if (!env['NOTIFY_SOCKET'] || !(deadline > 0)) return () => {}
  let telling = false
  const tell = (): void => {
    if (telling || !healthy()) return
    telling = true
    // Node.js cannot send datagrams to local sockets, so systemd's program does.
    const child = execFile('systemd-notify', ['WATCHDOG=1'], { timeout: NOTIFY_TIMEOUT_MS }, () => (telling = false))
    child.unref()
  }
  const timer = setInterval(tell, Math.min(deadline / PARTS, 2 ** 31 - 1)).unref()
  tell()
  return () => clearInterval(timer)
}
