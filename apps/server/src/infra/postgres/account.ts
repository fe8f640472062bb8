import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The account that PostgreSQL runs under; undefined means this process's own. */
export type Account = { uid: number; gid: number } | undefined

/** What every child of the launcher gets: no secrets of the shop, no PG* setting of the host, English messages. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR']
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' }
  for (const name of kept) if (process.env[name] !== undefined) env[name] = process.env[name]
  return env
}

/**
 * PostgreSQL refuses to run as root, so it runs under an account without rights: the owner of an existing data
 * folder, else `postgres`, else `nobody`.
 * @param dataDir an existing data folder, or one that is still to be made
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
 * Runs a program as the account and gives its output back.
 * @throws when it cannot be started or fails; the error carries `stderr`
 */
export async function runAs(account: Account, file: string, args: string[]): Promise<string> {
  // The present folder may be closed to the account, and PostgreSQL's programs insist on reading theirs.
  const { stdout } = await run(file, args, { ...account, cwd: safeFolder(), env: childEnvironment() })
  return stdout
}

/** A working folder that any account can enter. */
export const safeFolder = () => (process.platform === 'win32' ? process.cwd() : '/')

/** Asked of the system as that account rather than read off mode bits: ACLs, mounts and namespaces count too. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  if (!account) return true
  return runAs(account, 'test', ['-x', folder]).then(
    () => true,
    () => false
  )
}
