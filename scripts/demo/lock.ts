import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartProblem } from './settings.ts'

const SQLITE_BUSY = 5

/** A reference that keeps the garbage collector from closing the file and releasing its lock. */
const held = new Set<DatabaseSync>()

/**
 * Locks the data folder until the process ends or releases it. The lock is on an empty SQLite file: the system releases
 * it however the process ends, and it needs no disk space.
 * @returns releases the folder
 * @throws StartProblem if another start holds it
 */
export function lockDataDir(dataDir: string): () => void {
  const folder = realpathSync(dataDir)
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(folder, 'lock'))
    // Nothing is written, so it needs no journal file.
    file.exec('pragma journal_mode = memory')
    file.exec('begin exclusive')
  } catch (error) {
    file?.close()
    const { errcode, message } = error as { errcode?: number; message: string }
    throw new StartProblem(
      errcode === SQLITE_BUSY
        ? `Another start already uses the data folder ${folder}. Stop it, or set DATA_DIR to another folder.`
        : `The data folder ${folder} cannot be used: ${message}. Set DATA_DIR to another one.`
    )
  }
  const lock = file
  held.add(lock)
  return () => {
    held.delete(lock)
    lock.close()
  }
}
