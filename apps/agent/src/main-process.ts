import { rename, writeFile } from 'node:fs/promises'
import { notifySystemd } from '@netlet/contract/systemd'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Between two attempts to announce the main process. */
const RETRY_MS = 10_000

type Env = Readonly<Record<string, string | undefined>>

/** The setting that names the PID file. Supervisors other than systemd follow a takeover by this file. */
const PID_FILE = 'AGENT_PID_FILE'

/** Whether the supervisor follows a process that takes over: systemd does, others by the PID file. */
export const isFollowed = (env: Env): boolean => Boolean(env['NOTIFY_SOCKET'] || env[PID_FILE])

/** Writes this process' number into the PID file, if one is set. @throws Error of the file system */
export async function writePid(env: Env): Promise<void> {
  const path = env[PID_FILE]
  if (!path) return
  // By rename, so that no reader sees a part of the number.
  const fresh = `${path}.${process.pid}`
  await writeFile(fresh, `${process.pid}\n`)
  await rename(fresh, path)
}

/**
 * Announces this process as the main one, and resolves when that is done. The former process must not end earlier:
 * a supervisor would take that for the end of the service.
 */
export async function notifyMainProcess(env: Env, signal: AbortSignal): Promise<void> {
  const tell = async (): Promise<void> => {
    await writePid(env)
    await notifySystemd(env, `MAINPID=${process.pid}`)
  }
  const ended = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
  while (!signal.aborted) {
    const notified = await tell().then(
      () => true,
      () => false
    )
    if (notified) return
    await Promise.race([ended, new Promise<void>(resolve => setTimeout(resolve, RETRY_MS).unref())])
  }
}

// Scheduling priority of the managing process and its workers when the processors are busy.

/** Steps of nice(1). The managing process then has a tenth of a worker's share of a busy processor. */
const STEPS = 10
/** The lowest priority. RLIMIT_NICE counts from it. */
const LAST = 19
const CAP_SYS_NICE = 1n << 23n

/** This process' priority before `lowerPriority`. */
let first: number | null = null

/**
 * Lowers the managing process' priority, so that no tunnel waits while it reads long lists. It does nothing unless workers can
 * still start with the original priority (by RLIMIT_NICE or CAP_SYS_NICE).
 */
export function lowerPriority(): void {
  try {
    const own = getPriority()
    if (own + STEPS > LAST || !mayHave(own)) return
    first = own
    // Priority is per thread, and threads of the runtime, such as its garbage collector, already exist.
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), own + STEPS)
  } catch {
    // Another system, or one that forbids it: all processes run with the same priority.
  }
}

/** Starts a process with the original priority. A child inherits that of the thread that starts it. */
export function withOriginalPriority<T>(start: () => T): T {
  if (first === null) return start()
  trySetPriority(first)
  try {
    return start()
  } finally {
    trySetPriority(first + STEPS)
  }
}

/** If the right was lost since, workers must still start. */
function trySetPriority(priority: number): void {
  try {
    setPriority(priority)
  } catch {
    // The present priority stays.
  }
}

/** Whether threads of this process may return to a priority. */
function mayHave(priority: number): boolean {
  const capabilities = /^CapEff:\s*([\da-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0'
  if ((BigInt(`0x${capabilities}`) & CAP_SYS_NICE) !== 0n) return true
  const limit = /^Max nice priority\s+(\w+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? '0'
  return limit === 'unlimited' || LAST + 1 - Number(limit) <= priority
}
