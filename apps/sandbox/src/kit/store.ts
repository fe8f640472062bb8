import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

export type Store<T> = {
  data: T
  /** Resolves when everything in `data` at the time of the call is on disk. Calls close together share a write. */
  save(): Promise<void>
  /** Saves a last time. */
  close(): Promise<void>
}

/**
 * A JSON file that is always complete: it is written beside its place and renamed. A file of another `version` is set
 * aside and replaced, because a stand-in's state is worth no migration.
 * @param onlyAtClose makes `save` do nothing, for callers that need the state only at the end
 */
export async function openStore<T extends { version: number }>(
  file: string,
  fresh: () => T,
  { onlyAtClose = false }: { onlyAtClose?: boolean } = {}
): Promise<Store<T>> {
  // Its mails have links and codes that open accounts.
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await chmod(dirname(file), 0o700)
  const begun = fresh()
  const data = (await readStore<T>(file, begun.version)) ?? begun
  let queued: Promise<void> | null = null
  let writing: Promise<void> = Promise.resolve()

  async function write() {
    await writing.catch(() => {})
    queued = null
    const handle = await open(`${file}.new`, 'w', 0o600)
    try {
      // One that a stopped process left may have another mode.
      await handle.chmod(0o600)
      await handle.writeFile(JSON.stringify(data))
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(`${file}.new`, file)
  }

  function writeSoon(): Promise<void> {
    if (queued) return queued
    const next = write()
    queued = next
    writing = next
    return next
  }

  return {
    data,
    save: () => (onlyAtClose ? Promise.resolve() : writeSoon()),
    close: writeSoon
  }
}

async function readStore<T extends { version: number }>(file: string, version: number): Promise<T | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  try {
    const data = JSON.parse(text) as T
    if (data.version === version) return data
  } catch {
    // Not JSON, because someone edited it. It is set aside like a file of another version.
  }
  await rename(file, `${file}.set-aside`)
  return null
}
