import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The account that PostgreSQL runs under; undefined for this process's own. */
export type Account = { uid: number; gid: number } | undefined

/** The environment of every child process: no secrets of the shop, no PG* settings of the host, English messages. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR']
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' }
  for (const name of kept) if (process.env[name] !== undefined) env[name] = process.env[name]
  return env
}

/**
 * PostgreSQL refuses to run as root, so root uses the data folder's owner, else an unprivileged account of the system.
 * @param dataDir an existing or a future data folder
 */
export async function chooseAccount(dataDir: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined
  const existing = await stat(dataDir).catch(() => undefined)
  if (existing && existing.uid !== 0) return { uid: existing.uid, gid: existing.gid }
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const entry = entries.find(fields => fields[0] === name)
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) }
  }
  throw new Error(
    'The embedded database cannot run as root and found neither a "postgres" nor a "nobody" account. ' +
      'Start as another user, or set DATABASE_URL.'
  )
}

/**
 * Runs a program as the account and returns its output.
 * @throws if it cannot start or fails; the error has `stderr`
 */
export async function runAs(account: Account, file: string, args: string[]): Promise<string> {
  // The account may not be able to read the current folder, which PostgreSQL's programs need.
  const { stdout } = await run(file, args, { ...account, cwd: safeFolder(), env: childEnvironment() })
  return stdout
}

/** A working folder that any account can enter. */
export const safeFolder = () => (process.platform === 'win32' ? process.cwd() : '/')

/** Asks the system as that account, because mode bits do not show ACLs, mounts and namespaces. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  if (!account) return true
  return runAs(account, 'test', ['-x', folder]).then(
    () => true,
    () => false
  )
}
