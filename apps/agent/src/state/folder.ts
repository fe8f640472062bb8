import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'

export type FolderResult = { ok: true; path: string; unlock: () => void } | { ok: false; message: string }

/** Makes the state folder where it is missing and claims it for this process. */
export async function lockFolder(folder: string): Promise<FolderResult> {
  let path: string
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    path = await realpath(folder)
    await chmod(path, 0o700)
    const probe = join(path, '.writable')
    await writeFile(probe, '')
    await rm(probe)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    return {
      ok: false,
      message: `The state folder ${folder} cannot be written (${code}). Set DATA_DIR to one that can.`
    }
  }
  const lock = await takeLock(path)
  if (lock === null) {
    return { ok: false, message: `Another agent already uses ${path}. Stop it, or set DATA_DIR to another folder.` }
  }
  return { ok: true, path, unlock: () => lock.close() }
}

/**
 * A socket name instead of a lock file: the system frees it with the process, however that ends. null where another
 * process has it.
 */
async function takeLock(path: string): Promise<Server | null> {
  const name = `netlet-agent-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  const server = createServer(socket => socket.destroy())
  const at = process.platform === 'linux' ? `\0${name}` : process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : ''
  if (at === '') return server
  return new Promise(resolve => {
    server.once('error', () => resolve(null))
    server.listen(at, () => resolve(server.unref()))
  })
}

/** The bearer token that is kept beside the state; made at the first start. */
export async function readOrCreateToken(folder: string): Promise<string> {
  const path = join(folder, 'token')
  const kept = await readFile(path, 'utf8').catch(() => '')
  if (kept.trim() !== '') return kept.trim()
  const token = randomBytes(24).toString('base64url')
  await writeFile(path, `${token}\n`, { mode: 0o600 })
  return token
}
