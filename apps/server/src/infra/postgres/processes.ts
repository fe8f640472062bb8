import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'

const run = promisify(execFile)

/** True while a process has this id, whoever owns it. A zombie that nobody reaps still counts. */
export function pidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * What tells a process from a later one with the same id: when it started. Undefined when it is not running.
 * In a container ids are soon used again, and an orphan may stay a zombie for ever where the first process reaps none.
 */
export async function startOf(pid: number): Promise<string | undefined> {
  if (!pidTaken(pid)) return undefined
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
    // The name in parentheses may hold blanks; the fields after it are state (3rd) … start time (22nd).
    const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields && !['Z', 'X'].includes(fields[0] ?? 'X') ? fields[19] : undefined
  }
  if (process.platform === 'win32') return 'unknown'
  return run('ps', ['-o', 'lstart=', '-p', String(pid)]).then(
    done => done.stdout.trim(),
    () => undefined
  )
}

/** The command line of a running process; undefined where the system does not tell. */
export async function commandOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return text.replaceAll('\0', ' ').trim() || undefined
  }
  return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    done => done.stdout.trim(),
    () => undefined
  )
}

/** Waits until the process is gone. @returns false when it still runs after `ms` milliseconds */
export async function gone(pid: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms
  while ((await startOf(pid)) !== undefined) {
    if (performance.now() > deadline) return false
    await sleep(20)
  }
  return true
}
