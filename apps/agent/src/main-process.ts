import { execFile } from 'node:child_process'
import { rename, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const TELLING_MS = 10_000
/** Between two tries to say which process is the main one. */
const AGAIN_MS = 10_000

type Env = Readonly<Record<string, string | undefined>>

/** Names the file that says which process serves: who supervises the agent follows a new one by it. */
const PID_FILE = 'AGENT_PID_FILE'

/** Whether whoever started the agent follows a process that takes over: systemd by itself, others by the file. */
export const isFollowed = (env: Env): boolean => Boolean(env['NOTIFY_SOCKET'] || env[PID_FILE])

/** Writes the number of this process into the file that says which one serves, where there is one. @throws Error of the file system */
export async function writePid(env: Env): Promise<void> {
  const path = env[PID_FILE]
  if (!path) return
  // In one step for whoever reads it.
  const fresh = `${path}.${process.pid}`
  await writeFile(fresh, `${process.pid}\n`)
  await rename(fresh, path)
}

/**
 * Says that this process is the main one now. Resolves when that is known; until then the former one must not end, since
 * systemd and others would take that for the end of the service. Where nobody is to be told, at once.
 */
export async function tellMainProcess(env: Env, signal: AbortSignal): Promise<void> {
  const tell = async (): Promise<void> => {
    await writePid(env)
    if (!env['NOTIFY_SOCKET']) return
    await promisify(execFile)('systemd-notify', [`MAINPID=${process.pid}`], { timeout: TELLING_MS })
  }
  const ended = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
  while (!signal.aborted) {
    const told = await tell().then(
      () => true,
      () => false
    )
    if (told) return
    await Promise.race([ended, new Promise<void>(resolve => setTimeout(resolve, AGAIN_MS).unref())])
  }
}
