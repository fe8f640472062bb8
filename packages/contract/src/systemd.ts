// What a service tells systemd. Agents and the shop's processes share it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Notifications per deadline, so that a late or lost one does no harm. */
const PARTS = 4
const NOTIFY_TIMEOUT_MS = 10_000

type Env = Readonly<Record<string, string | undefined>>

/**
 * Tells systemd something, such as `READY=1`; nothing if systemd does not ask for it.
 * @throws Error if it could not be told
 */
export async function notifySystemd(env: Env, what: string): Promise<void> {
  if (!env['NOTIFY_SOCKET']) return
  // Node.js cannot send datagrams to local sockets, so systemd's program does.
  await promisify(execFile)('systemd-notify', [what], { timeout: NOTIFY_TIMEOUT_MS })
}

/**
 * Notifies systemd's watchdog while the service is healthy; otherwise systemd restarts the service. A loop that hangs sends
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
    void notifySystemd(env, 'WATCHDOG=1')
      .catch(() => {})
      .finally(() => (telling = false))
  }
  const timer = setInterval(tell, Math.min(deadline / PARTS, 2 ** 31 - 1)).unref()
  tell()
  return () => clearInterval(timer)
}
