import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'

const run = promisify(execFile)

/** Does a process of any user have this id? An unreaped zombie counts. */
export function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * The start time, which distinguishes a process from a later one with the same id; undefined if it does not run.
 * Containers reuse ids soon, and a zombie stays if the first process does not reap it.
 */
export async function startOf(pid: number): Promise<string | undefined> {
  if (!isPidInUse(pid)) return undefined
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
    // The name in parentheses may contain spaces. The fields after it are state (3rd) … start time (22nd).
    const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields && !['Z', 'X'].includes(fields[0] ?? 'X') ? fields[19] : undefined
  }
  if (process.platform === 'win32') return 'unknown'
  return run('ps', ['-o', 'lstart=', '-p', String(pid)]).then(
    done => done.stdout.trim(),
    () => undefined
  )
}

/** The command line of a running process; undefined if the system does not reveal it. */
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

/** Waits until the process is gone. @returns false if it still runs after `ms` milliseconds */
export async function waitForExit(pid: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms
  while ((await startOf(pid)) !== undefined) {
    if (performance.now() > deadline) return false
    await sleep(20)
  }
  return true
}
