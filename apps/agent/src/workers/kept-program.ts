import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The name of a copy, by what is in it. */
const KEPT = /^program-[0-9a-f]+\.mjs$/

/**
 * A copy of the agent's program in its folder: an installation puts another one in the place of the file, and a worker that is
 * started again has to be of the same program as who starts it. What is no single file (the sources) stays where it is, and so does what
 * cannot be copied.
 */
export async function keepProgram(file: string, folder: string): Promise<string> {
  if (!file.endsWith('.mjs')) return file
  const code = await readFile(file).catch(() => null)
  if (code === null) return file
  const kept = join(folder, `program-${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`)
  const there = await readFile(kept).catch(() => null)
  if (there?.equals(code) === true) return kept
  try {
    await writeFile(`${kept}.new`, code, { mode: 0o600 })
    await rename(`${kept}.new`, kept)
    return kept
  } catch {
    // A disk that is full: nothing else depends on it.
    await rm(`${kept}.new`, { force: true }).catch(() => {})
    return file
  }
}

/** Removes the copies of programs that start no worker any more. */
export async function forgetOthers(kept: string, folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(name => KEPT.test(name) && join(folder, name) !== kept)
  await Promise.all(names.map(name => rm(join(folder, name), { force: true })))
}

const inodeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.ino ?? 0

/** The runtime of this process, to start others by: the file itself, also where there is another one in its place by then. */
export function ownRuntime(): () => string {
  const began = inodeOf(process.execPath)
  return () =>
    process.platform === 'linux' && inodeOf(process.execPath) !== began ? `/proc/${process.pid}/exe` : process.execPath
}
