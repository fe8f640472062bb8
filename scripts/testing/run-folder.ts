import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'

const GiB = 2 ** 30
/** A run uses up to 2 GiB of memory, and as much again in its folder. */
const NEEDED = { room: 4 * GiB, memory: 8 * GiB }
const IN_MEMORY = '/dev/shm'
const PREFIX = 'netlet-run-'
/** Longer than any run of the long tier. */
const LONGEST_RUN_MS = 12 * 3600_000

/**
 * Makes the temporary folder of all tests, so that nothing outlasts the run. It is in memory if there is plenty: a
 * test's database has a thousand files, which takes five times as long on a disk.
 * @returns its path, without symlinks
 */
export function makeRunFolder(): string {
  const parent = process.env['TMPDIR'] === undefined && isFitting(IN_MEMORY) ? IN_MEMORY : realpathSync(tmpdir())
  if (parent === IN_MEMORY) removeLeft(parent)
  const folder = mkdtempSync(join(parent, PREFIX))
  // If root runs the tests, the database server runs under another account and must traverse the folder.
  chmodSync(folder, 0o755)
  return folder
}

/** Only Linux has it. It must allow executing programs. */
function isFitting(place: string): boolean {
  try {
    accessSync(place, constants.W_OK)
    const { bavail, bsize } = statfsSync(place)
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find(line => line.split(' ')[1] === place)
    const isExecutable = mount !== undefined && !(mount.split(' ')[3] ?? '').split(',').includes('noexec')
    return isExecutable && bavail * bsize >= NEEDED.room && process.availableMemory() >= NEEDED.memory
  } catch {
    return false
  }
}

/** Removes folders of killed runs, which occupy memory. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent).filter(one => one.startsWith(PREFIX))) {
    const path = join(parent, name)
    try {
      if (statSync(path).mtimeMs < Date.now() - LONGEST_RUN_MS) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another run removed it, or it belongs to another account.
    }
  }
}

/**
 * Ends every process that the run left behind, and returns them. They have the run's folder in their environment or,
 * like databases, in their command line.
 */
export function endLeftovers(folder: string): string[] {
  const ended: string[] = []
  // Repeat, because a process may start another during the search.
  for (let round = 0; round < 5; round++) {
    const found = processes(folder).filter(({ pid }) => pid !== process.pid)
    if (found.length === 0) break
    for (const { pid, command } of found) {
      try {
        process.kill(pid, 'SIGKILL')
        ended.push(`${pid} ${command.slice(0, 100)}`)
      } catch {
        // It has already ended.
      }
    }
  }
  return ended
}

function processes(folder: string): { pid: number; command: string }[] {
  if (process.platform === 'win32') return []
  if (process.platform === 'linux') {
    return readdirSync('/proc').flatMap(name => {
      if (!/^\d+$/.test(name)) return []
      const command = readProc(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim()
      // A zombie has neither command line nor environment.
      const ours = command.includes(folder) || readProc(`/proc/${name}/environ`).includes(folder)
      return ours ? [{ pid: Number(name), command }] : []
    })
  }
  const list = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' })
  return list.split('\n').flatMap(line => {
    const [, pid, command] = /^\s*(\d+) (.*)$/.exec(line) ?? []
    return pid && command?.includes(folder) ? [{ pid: Number(pid), command }] : []
  })
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
