import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Name of a copy, from a hash of its content. */
const KEPT = /^program-[0-9a-f]+\.mjs$/

/**
 * Copies the agent's program into its folder, because an upgrade replaces the file and restarted workers must run the same program as
 * their manager. Sources, and programs that cannot be copied, stay where they are.
 */
export async function copyProgram(file: string, folder: string): Promise<string> {
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
    // The disk may be full. The agent works without the copy.
    await rm(`${kept}.new`, { force: true }).catch(() => {})
    return file
  }
}

/** Removes the copies of other programs. */
export async function removeOtherCopies(kept: string, folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(name => KEPT.test(name) && join(folder, name) !== kept)
  await Promise.all(names.map(name => rm(join(folder, name), { force: true })))
}

const inodeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.ino ?? 0

/** Path of this process' runtime for its workers, even after another file has replaced it. */
export function ownRuntime(): () => string {
  const began = inodeOf(process.execPath)
  return () =>
    process.platform === 'linux' && inodeOf(process.execPath) !== began ? `/proc/${process.pid}/exe` : process.execPath
}
