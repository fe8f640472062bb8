import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, link, open, readdir, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { handleOf, type ListenHandle } from '../net/listen-handle.ts'

/** What keeps a state folder for one process at a time. */
export type Lock = {
  /** The socket and its file's name, for a process that takes over; null where it cannot be handed over. */
  handed: { handle: ListenHandle; name: string } | null
  /** Gives up this process' hold; another one has it, too. */
  leave: () => void
  /** Nobody has it any more. */
  unlock: () => void
}

/** By this name agents of before look for another one. */
const WELL_KNOWN = 'lock.sock'
const LOCKS = /^lock\.(?:[0-9a-f]+\.)?sock$/
/** Bytes of a path that a socket may have on macOS; Linux takes some more. */
const LONGEST_SOCKET_PATH = 103

/**
 * A socket instead of a lock file: the system frees it with the process, however that ends. Its file is in the folder, which is this
 * user's alone: a name without a file could be taken by anybody on the machine. Whoever wants the lock listens first, at a file of its
 * own, and looks for others then: of two that start at once at least one sees the other. null where another process has it, or wants it.
 */
export async function takeLock(path: string): Promise<Lock | null> {
  if (process.platform === 'win32') return takePipe(path)
  const id = randomBytes(4).toString('hex')
  const name = `lock.${id}.sock`
  const folder = await shortPathOf(path, `.taking-${id}`)
  // No socket has room for so long a path here.
  if (folder === null) return { handed: null, leave: () => {}, unlock: () => {} }
  try {
    // Under another name until it listens: what does not answer is taken for left behind. And the file stays when the process that made
    // it ends, since others may have the socket by then.
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
    // What cannot be removed (a folder by such a name) does not answer, and is nobody's.
    for (const other of others) await rm(join(path, other), { force: true }).catch(() => {})
    await link(join(path, name), join(path, WELL_KNOWN)).catch(() => {})
    return lock
  } finally {
    await folder.close()
  }
}

/** A lock that came from another process. Nobody has to answer at it: that it listens is enough. */
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
        // Another one may have its own by the well-known name.
        rmSync(join(path, name), { force: true })
      } catch {
        // A folder that cannot be written to any more: nobody answers at the file, and the next one that looks removes it.
      }
      leave()
    }
  }
}

/** Where sockets of a folder are bound: below a handle of it, where its path is too long for one. */
async function shortPathOf(path: string, name: string): Promise<{ path: string; close: () => Promise<void> } | null> {
  if (Buffer.byteLength(join(path, name)) <= LONGEST_SOCKET_PATH) return { path, close: async () => {} }
  if (process.platform !== 'linux') return null
  const handle: FileHandle = await open(path, 'r')
  return { path: `/proc/self/fd/${handle.fd}`, close: () => handle.close() }
}

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
    // One that is too busy to answer is there, too.
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
