import { type Client, escapeIdentifier } from 'pg'
import { withDatabase } from './database-url.ts'
import type { Checks } from './checks.ts'
import { connect } from './dump.ts'
import type { Header, Manifest } from './format.ts'
import { checkVersion, load } from './load.ts'
import { BackupProblem, reasonOf } from './problem.ts'
import { type Lock, readBackup } from './seal.ts'

/**
 * Restores a backup into a database of its own beside the shop's, checks it, and removes that database. One rehearsal
 * of a shop runs at a time; it first removes what an interrupted one left.
 * @param interrupted ends the rehearsal early
 */
export async function rehearse(
  databaseUrl: string,
  { path, lock, header, manifest, now }: { path: string; lock: Lock; header: Header; manifest: Manifest; now: Date },
  interrupted: AbortSignal
): Promise<{ found: Checks; differences: string[] }> {
  checkVersion(header)
  const beside = await connect(databaseUrl)
  try {
    const name = await reserveName(beside)
    const drop = () => beside.query(`drop database if exists ${escapeIdentifier(name)} with (force)`)
    await drop()
    await createDatabase(beside, name)
    const stopped = new Promise<never>((_, reject) => {
      const stop = () => reject(new BackupProblem('The rehearsal was interrupted; its database is removed.'))
      if (interrupted.aborted) stop()
      interrupted.addEventListener('abort', stop)
    })
    stopped.catch(() => {})
    try {
      const work = load(withDatabase(databaseUrl, name), readBackup(path, lock), { header, isRehearsal: true, now })
      work.catch(() => {})
      const found = await Promise.race([work, stopped])
      return { found, differences: differencesOf(found, manifest.checks) }
    } finally {
      await drop()
    }
  } finally {
    await beside.end()
  }
}

/** Rows are compared while they are copied; here only what follows from them. */
const differencesOf = (found: Checks, told: Checks | null): string[] =>
  Object.entries(found).flatMap(([name, count]) =>
    count === (told?.[name] ?? 0)
      ? []
      : [`${name}: ${count}, and ${told?.[name] ?? 0} in the shop when it was backed up`]
  )

/** The name of the shop's rehearsal database, under a lock that ends with the connection. */
async function reserveName(client: Client): Promise<string> {
  const { rows } = await client.query<{ oid: number; held: boolean }>(
    `select oid, pg_try_advisory_lock(hashtext('netlet rehearsal')) as held from pg_database where datname = current_database()`
  )
  if (!rows[0]?.held) throw new BackupProblem('Another rehearsal of this shop runs. Wait for its end.')
  return `netlet_rehearsal_${rows[0].oid}`
}

/** @throws BackupProblem if there is one of this name, or the role may not create databases */
export async function createDatabase(client: Client, name: string): Promise<void> {
  try {
    await client.query(`create database ${escapeIdentifier(name)} template template0 encoding 'UTF8'`)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === '42501')
      throw new BackupProblem('The role of DATABASE_URL may not create databases: alter role NAME createdb')
    if (code === '42P04') throw new BackupProblem(`There is already a database ${name}. Name a new one.`)
    throw new BackupProblem(`The database ${name} could not be made: ${reasonOf(error)}.`)
  }
}
