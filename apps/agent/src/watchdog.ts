import { execFile } from 'node:child_process'

/** Parts of systemd's deadline after which it is told again: one that is late or lost does no harm. */
const PARTS = 4
const TELLING_MS = 10_000

type Env = Readonly<Record<string, string | undefined>>

/**
 * Tells systemd's watchdog that the agent is well, for as long as it is: without that the service is started again. A loop
 * that hangs tells nothing, and neither does one that is not `healthy`. Where systemd asked for nothing, it does nothing.
 * @returns what ends it
 */
export function feedWatchdog(env: Env, healthy: () => boolean): () => void {
  const deadline = Number(env['WATCHDOG_USEC']) / 1000
  if (!env['NOTIFY_SOCKET'] || !(deadline > 0)) return () => {}
  let telling = false
  const tell = (): void => {
    if (telling || !healthy()) return
    telling = true
    // Node has no datagrams to local sockets; systemd's own program sends them.
    const child = execFile('systemd-notify', ['WATCHDOG=1'], { timeout: TELLING_MS }, () => (telling = false))
    child.unref()
  }
  const timer = setInterval(tell, Math.min(deadline / PARTS, 2 ** 31 - 1)).unref()
  tell()
  return () => clearInterval(timer)
}
