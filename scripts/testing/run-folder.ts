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

const GiB = 2 ** 30
/** A run takes up to 2 GiB below its folder, and as much beside it. */
const NEEDED = { room: 4 * GiB, memory: 8 * GiB }
const IN_MEMORY = '/dev/shm'
const PREFIX = 'netlet-run-'
/** More than a run of the long tier takes. */
const LONGEST_RUN_MS = 12 * 3600_000

/**
 * Makes the folder below which the tests keep whatever they keep for a while, so that nothing outlasts the run. It is in memory where
 * there is plenty: a database of a test's own is a thousand files, which takes a disk five times as long.
 * @returns its path, without links
 */
export function makeRunFolder(): string {
  const parent = process.env['TMPDIR'] === undefined && isFitting(IN_MEMORY) ? IN_MEMORY : realpathSync(tmpdir())
  if (parent === IN_MEMORY) removeLeft(parent)
  const folder = mkdtempSync(join(parent, PREFIX))
  // A database server that root starts runs under another account, which has to pass through.
  chmodSync(folder, 0o755)
  return folder
}

/** Linux alone has one. Programs are started from it, too. */
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

/** What a run that was killed left there takes memory until somebody removes it. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent).filter(one => one.startsWith(PREFIX))) {
    const path = join(parent, name)
    try {
      if (statSync(path).mtimeMs < Date.now() - LONGEST_RUN_MS) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another run removed it, or it is another account's.
    }
  }
}
