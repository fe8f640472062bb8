import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './journal.ts'

/** A small file of the state folder that is written while the agent runs. */
export class SmallFile {
  readonly path: string
  /** How much could not be written the last time; null: it could. */
  #missing: number | null = null

  constructor(path: string) {
    this.path = path
  }

  get isFailing(): boolean {
    return this.#missing !== null
  }

  /** Puts a text in place of the one before. @returns whether it is on the disk; where it is not, the one before stays */
  async replace(text: string): Promise<boolean> {
    const done = await replaceFile(this.path, text)
    this.#missing = done ? null : text.length
    return done
  }

  /** After a failure: whether as much could be written by now. What could not be kept may never be asked for again. */
  async tryAgain(): Promise<void> {
    if (this.#missing === null) return
    const probe = `${this.path}.probe`
    if (await replaceFile(probe, ' '.repeat(this.#missing))) this.#missing = null
    await rm(probe, { force: true }).catch(() => {})
  }
}

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
