import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pidTaken, startOf } from './processes.ts'

/** One process's claim on a database. The last live owner shuts the server down. */
export type Owner = {
  /** Gives up the claim. @returns true if no other live owner is left */
  release(): Promise<boolean>
  /** The same without waiting, for the exit of the process. An owner counts as live while its process id is taken. */
  releaseNow(): boolean
}

/** Marks this process as an owner with a file in `folder`. Call it before looking for a running server. */
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

/** Counts live owners and removes the marks of killed ones. */
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
