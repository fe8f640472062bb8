import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './journal.ts'

/**
 * Puts a small file, which only its owner reads, whole in place of another one.
 * @returns whether it is on the disk; where it is not, the one before stays
 */
export async function replaceFile(path: string, text: string): Promise<boolean> {
  const fresh = `${path}.new`
  try {
    const file = await open(fresh, 'w', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
    await syncFolder(dirname(path))
    return true
  } catch {
    await rm(fresh, { force: true }).catch(() => {})
    return false
  }
}
