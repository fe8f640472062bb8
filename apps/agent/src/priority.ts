// Scheduling priority of the managing process and its workers when the processors are busy.
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

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
