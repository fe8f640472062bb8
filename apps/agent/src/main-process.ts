import { rename, writeFile } from 'node:fs/promises'
import { tellSystemd } from '@netlet/contract/systemd'

/** Between two attempts to announce the main process. */
const RETRY_MS = 10_000

type Env = Readonly<Record<string, string | undefined>>

/** The setting that names the PID file. Supervisors other than systemd follow a takeover by this file. */
const PID_FILE = 'AGENT_PID_FILE'

/** Whether the supervisor follows a process that takes over: systemd does, others by the PID file. */
export const isFollowed = (env: Env): boolean => Boolean(env['NOTIFY_SOCKET'] || env[PID_FILE])

/** Writes this process' number into the PID file, if one is set. @throws Error of the file system */
export async function writePid(env: Env): Promise<void> {
  const path = env[PID_FILE]
  if (!path) return
  // By rename, so that no reader sees a part of the number.
  const fresh = `${path}.${process.pid}`
  await writeFile(fresh, `${process.pid}\n`)
  await rename(fresh, path)
}

/**
 * Announces this process as the main one, and resolves when that is done. The former process must not end earlier:
 * a supervisor would take that for the end of the service.
 */
export async function tellMainProcess(env: Env, signal: AbortSignal): Promise<void> {
  const tell = async (): Promise<void> => {
    await writePid(env)
    await tellSystemd(env, `MAINPID=${process.pid}`)
  }
  const ended = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
  while (!signal.aborted) {
    const told = await tell().then(
      () => true,
      () => false
    )
    if (told) return
    await Promise.race([ended, new Promise<void>(resolve => setTimeout(resolve, RETRY_MS).unref())])
  }
}
