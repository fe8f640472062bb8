import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
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
 * Sockets instead of a lock file: the system frees them with the process, however that ends. A name without a file is
 * taken first, so that of two agents that start at once only one looks after the file; the file is seen by agents in
 * containers that share the folder, too. null where another process has either.
 */
async function takeLock(path: string): Promise<{ close: () => void } | null> {
  const name = `netlet-agent-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  const at = process.platform === 'linux' ? `\0${name}` : process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : null
  const named = at === null ? null : await listenAt(at)
  if (at !== null && named === null) return null
  const file = join(path, 'lock.sock')
  if (process.platform === 'win32' || Buffer.byteLength(file) > LONGEST_SOCKET_PATH)
    return { close: () => named?.close() }
  const filed = (await listenAt(file)) ?? ((await answers(file)) ? null : await listenAgain(file))
  if (filed !== null) return { close: () => [named, filed].forEach(server => server?.close()) }
  named?.close()
  return null
}

/** Bytes of a path that a socket may have on macOS; Linux takes some more. */
const LONGEST_SOCKET_PATH = 103

/** Listens at a path or name; null where that is taken. */
const listenAt = (at: string): Promise<Server | null> =>
  new Promise(resolve => {
    const server = createServer(socket => socket.destroy())
    server.once('error', () => resolve(null))
    server.listen(at, () => resolve(server.unref()))
  })

/** Whether a process listens at the file; one that was killed leaves it behind. */
const answers = (file: string): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(file, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

async function listenAgain(file: string): Promise<Server | null> {
  await rm(file, { force: true })
  return listenAt(file)
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
