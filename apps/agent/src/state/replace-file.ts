import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './journal.ts'

/** A small file in the state folder that is replaced at run time. */
export class SmallFile {
  readonly path: string
  /** Size of the text that could not be written. Null: the last write succeeded. */
  #missing: number | null = null

  constructor(path: string) {
    this.path = path
  }

  get isFailing(): boolean {
    return this.#missing !== null
  }

  /** Replaces the text. @returns whether it is on the disk; if not, the previous text stays */
  async replace(text: string): Promise<boolean> {
    const done = await replaceFile(this.path, text)
    this.#missing = done ? null : text.length
    return done
  }

  /** After a failure, tests with a probe whether the disk accepts as much now. The caller may never repeat the write. */
  async tryAgain(): Promise<void> {
    if (this.#missing === null) return
    const probe = `${this.path}.probe`
    if (await replaceFile(probe, ' '.repeat(this.#missing))) this.#missing = null
    await rm(probe, { force: true }).catch(() => {})
  }
}

/**
 * Replaces a small file atomically. Only its owner may read it.
 * @returns whether it is on the disk; if not, the previous file stays
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
