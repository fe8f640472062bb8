import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartProblem } from './settings.ts'

const SQLITE_BUSY = 5

/** Kept here: one that nobody refers to would be collected, and its lock with it. */
const held = new Set<DatabaseSync>()

/**
 * Claims the data folder for this process, until it ends or gives it back. The lock is that of an SQLite file which stays
 * empty: the system frees it with the process, however that ends, and it needs no room on the disk.
 * @returns gives the folder back
 * @throws StartProblem where another start has it
 */
export function lockDataDir(dataDir: string): () => void {
  const folder = realpathSync(dataDir)
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(folder, 'lock'))
    // Nothing is written: it needs no journal beside it.
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
