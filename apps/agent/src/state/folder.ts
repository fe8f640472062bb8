import { randomBytes, randomInt } from 'node:crypto'
import { chmod, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentConfig } from '../config.ts'
import { AccessLog } from '../log/access-log.ts'
import { type Lock, takeLock } from './lock.ts'
import { OwnerFile } from './owner.ts'
import { TokenFile } from './token.ts'
import { replaceFile } from './replace-file.ts'
import { TrafficTotals } from './traffic.ts'

export type FolderResult = { ok: true; path: string; lock: Lock } | { ok: false; message: string }

/** Two processes that start at once may both fail to get the lock. Each retries at least this long, at random intervals. */
const LEAST_PATIENCE_MS = 300
const TRY_AGAIN_MS = 60

/**
 * Creates the state folder if it is missing, and locks it for this process.
 * @param patienceMs how long to wait for a process that is about to release it
 */
export async function lockFolder(folder: string, patienceMs = 0): Promise<FolderResult> {
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
      message: `The state folder ${folder} cannot be written (${code}). Set DATA_DIR to a writable folder.`
    }
  }
  const until = performance.now() + Math.max(patienceMs, LEAST_PATIENCE_MS)
  let lock = await takeLock(path)
  while (lock === null && performance.now() < until) {
    await new Promise(resolve => setTimeout(resolve, randomInt(TRY_AGAIN_MS)))
    lock = await takeLock(path)
  }
  if (lock === null) {
    return { ok: false, message: `Another agent already uses ${path}. Stop it, or set DATA_DIR to another folder.` }
  }
  return { ok: true, path, lock }
}

/** Operators may supply their own token: header characters only, and at least as long as AGENT_TOKEN must be. */
const TOKEN = /^[!-~]{8,}$/
const SESSION_KEY = /^[\w-]{43}$/

/**
 * The bearer token in the state folder, generated at the first start.
 * @throws Error if it cannot be read, is damaged, or cannot be saved
 */
export const readOrCreateToken = (folder: string): Promise<string> => readOrCreate(join(folder, 'token'), 24, TOKEN)

/** The key for the addresses of sessions. Errors as above. */
export const readOrCreateSessionKey = (folder: string): Promise<string> =>
  readOrCreate(join(folder, 'session.key'), 32, SESSION_KEY)

async function readOrCreate(path: string, bytes: number, looksLike: RegExp): Promise<string> {
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // An unreadable token must not be replaced, because the console uses it.
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const text = kept.trim()
  if (looksLike.test(text)) return text
  // An empty file is replaced, because it holds nothing.
  if (text !== '') throw new Error(`${path} is damaged. Restore it from a backup, or remove it and a new one is made.`)
  const made = randomBytes(bytes).toString('base64url')
  if (!(await replaceFile(path, `${made}\n`))) throw new Error(`${path} cannot be written. Free some disk space.`)
  return made
}

/** The files of the state folder, except the journal. */
export type StateFiles = { token: TokenFile; accessLog: AccessLog; totals: TrafficTotals; owner: OwnerFile }

/** Opens these files. The caller must hold the folder's lock. */
export async function openFiles(
  path: string,
  config: Pick<AgentConfig, 'token' | 'log'>,
  now: () => number
): Promise<{ ok: true; files: StateFiles } | { ok: false; message: string }> {
  const owned = await OwnerFile.open(path)
  if (!owned.ok) return owned
  const token = config.token ?? (await readOrCreateToken(path).catch((error: Error) => error))
  if (token instanceof Error) return { ok: false, message: `The token cannot be used: ${token.message}` }
  const rotated = await TokenFile.open(path, token)
  if (!rotated.ok) return rotated
  const totals = await TrafficTotals.open(path, now)
  const accessLog = await AccessLog.open({ folder: path, flushMs: 500, ...config.log })
  return { ok: true, files: { token: rotated.token, accessLog, totals, owner: owned.file } }
}
