import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pidTaken, startOf } from './processes.ts'

/** One process's claim on a database; the last living owner's release is the one that shuts the server down. */
export type Owner = {
  /** Gives the claim up. @returns true when no other living owner is left */
  release(): Promise<boolean>
  /** The same while the process ends and can wait for nothing: an owner counts as living while its id is taken. */
  releaseNow(): boolean
}

/** Marks this process as an owner by a file in `folder`, before it looks whether the server runs. */
export async function markOwner(folder: string): Promise<Owner> {
  const name = `${process.pid}-${randomBytes(6).toString('hex')}`
  const temporary = join(folder, `.${name}`)
  await writeFile(temporary, (await startOf(process.pid)) ?? '')
  await rename(temporary, join(folder, name))
  let released = false
  return {
    async release() {
      if (released) return false
      released = true
      await rm(join(folder, name), { force: true })
      return (await livingOwners(folder)) === 0
    },
    releaseNow() {
      if (released) return false
      released = true
      rmSync(join(folder, name), { force: true })
      return !readdirSync(folder).some(other => /^\d/.test(other) && pidTaken(Number.parseInt(other, 10)))
    }
  }
}

/** Counts owners that still run and removes the marks of those that were killed. */
async function livingOwners(folder: string): Promise<number> {
  let living = 0
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^\d/.test(name)) continue
    const start = await readFile(join(folder, name), 'utf8').catch(() => undefined)
    if (start !== undefined && (await startOf(Number.parseInt(name, 10))) === start) living++
    else await rm(join(folder, name), { force: true })
  }
  return living
}
