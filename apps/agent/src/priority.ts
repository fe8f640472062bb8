// Which of the agent's processes the system runs first, where all of them want a processor.
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Steps of nice(1): the managing process has a tenth of a worker's share where both want all of a processor. */
const STEPS = 10
/** The last step that there is; RLIMIT_NICE counts from it. */
const LAST = 19
const CAP_SYS_NICE = 1n << 23n

/** That of this process before it stood back. */
let first: number | null = null

/**
 * Has this process, which manages the workers, run after them: no tunnel waits while it takes in long lists. Only where it may start
 * workers with the priority that it had itself (by RLIMIT_NICE or CAP_SYS_NICE); elsewhere nothing changes.
 */
export function standBack(): void {
  try {
    const own = getPriority()
    if (own + STEPS > LAST || !mayHave(own)) return
    first = own
    // The system counts by thread: what was started before, as the runtime's collectors, has a priority of its own.
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), own + STEPS)
  } catch {
    // Another system, or one that forbids it: all run alike.
  }
}

/** Starts a process with the priority that this one had at first: it has that of the thread that starts it. */
export function atFirstPriority<T>(start: () => T): T {
  if (first === null) return start()
  trySetPriority(first)
  try {
    return start()
  } finally {
    trySetPriority(first + STEPS)
  }
}

/** A right that is gone since must not keep workers from being started. */
function trySetPriority(priority: number): void {
  try {
    setPriority(priority)
  } catch {
    // It runs with the priority that it has.
  }
}

/** Whether a thread of this process may go back to a priority. */
function mayHave(priority: number): boolean {
  const capabilities = /^CapEff:\s*([\da-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0'
  if ((BigInt(`0x${capabilities}`) & CAP_SYS_NICE) !== 0n) return true
  const limit = /^Max nice priority\s+(\w+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? '0'
  return limit === 'unlimited' || LAST + 1 - Number(limit) <= priority
}
