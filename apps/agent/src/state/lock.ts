import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, link, open, readdir, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { handleOf, type ListenHandle } from '../net/listen-handle.ts'

/** The lock that gives a state folder to one process at a time. */
export type Lock = {
  /** The socket and its file name, for a process that takes over. Null: it cannot be handed over. */
  handed: { handle: ListenHandle; name: string } | null
  /** Closes this process' copy of a lock that another process also holds. */
  leave: () => void
  /** Releases the lock. */
  unlock: () => void
}

/** Older agents look for another agent at this name. */
const WELL_KNOWN = 'lock.sock'
const LOCKS = /^lock\.(?:[0-9a-f]+\.)?sock$/
/** Longest path of a socket, in bytes, on macOS. Linux allows slightly more. */
const LONGEST_SOCKET_PATH = 103

/**
 * Locks a folder by a listening socket instead of a lock file: the system frees it with the process. The socket's file is in the
 * folder, because any user of the machine could take a name without a file. Each process first listens at its own file, then looks
 * for others, so of two that start at once at least one sees the other. Null: another process has the lock, or wants it.
 */
export async function takeLock(path: string): Promise<Lock | null> {
  if (process.platform === 'win32') return takePipe(path)
  const id = randomBytes(4).toString('hex')
  const name = `lock.${id}.sock`
  const folder = await shortPathOf(path, `.taking-${id}`)
  // Paths of sockets cannot be this long here, so the folder stays unlocked.
  if (folder === null) return { handed: null, leave: () => {}, unlock: () => {} }
  try {
    // Renamed only once it listens, because others remove files that do not answer. The rename also keeps the runtime from removing
    // the file when this process ends, while a successor may hold the socket.
    const server = await listenAt(join(folder.path, `.taking-${id}`))
    if (server === null) return null
    await rename(join(path, `.taking-${id}`), join(path, name))
    const others = (await readdir(path)).filter(other => LOCKS.test(other) && other !== name)
    const answering = await Promise.all(others.map(other => answers(join(folder.path, other))))
    const lock = lockOf(path, name, handleOf(server), () => server.close())
    if (answering.includes(true)) {
      lock.unlock()
      return null
    }
    // An entry that cannot be removed, such as a folder of that name, does not answer and is harmless.
    for (const other of others) await rm(join(path, other), { force: true }).catch(() => {})
    await link(join(path, name), join(path, WELL_KNOWN)).catch(() => {})
    return lock
  } finally {
    await folder.close()
  }
}

/** A lock from another process. It need not accept connections; listening is enough. */
export const lockFrom = (path: string, name: string, handle: ListenHandle): Lock =>
  lockOf(path, name, handle, () => handle.close())

function lockOf(path: string, name: string, handle: ListenHandle | null, close: () => void): Lock {
  let isOpen = true
  const leave = (): void => {
    if (isOpen) close()
    isOpen = false
  }
  return {
    handed: handle === null ? null : { handle, name },
    leave,
    unlock: () => {
      if (!isOpen) return
      try {
        // The well-known name stays, because it may lead to another process' socket.
        rmSync(join(path, name), { force: true })
      } catch {
        // The folder is not writable. The file no longer answers, so the next process removes it.
      }
      leave()
    }
  }
}

/** Where a folder's sockets are bound. If its path is too long, under `/proc/self/fd`. */
async function shortPathOf(path: string, name: string): Promise<{ path: string; close: () => Promise<void> } | null> {
  if (Buffer.byteLength(join(path, name)) <= LONGEST_SOCKET_PATH) return { path, close: async () => {} }
  if (process.platform !== 'linux') return null
  const handle: FileHandle = await open(path, 'r')
  return { path: `/proc/self/fd/${handle.fd}`, close: () => handle.close() }
}

/** Listens at a path or name. Null: taken. */
const listenAt = (at: string): Promise<Server | null> =>
  new Promise(resolve => {
    const server = createServer(socket => socket.destroy())
    server.once('error', () => resolve(null))
    server.listen(at, () => resolve(server.unref()))
  })

/** Whether a process listens at the file. A killed process leaves its file behind. */
const answers = (file: string): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(file, () => {
      socket.destroy()
      resolve(true)
    })
    // Other errors, such as a full queue, mean that a process is there.
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT')
    )
  })

async function takePipe(path: string): Promise<Lock | null> {
  const name = `netlet-agent-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  const server = await listenAt(`\\\\.\\pipe\\${name}`)
  const close = (): void => void server?.close()
  return server === null ? null : { handed: null, leave: close, unlock: close }
}
