import { type Client, escapeIdentifier } from 'pg'
import { BackupProblem, type Header, type Manifest } from './format.ts'
import { reasonOf } from '../infra/text.ts'
import { withDatabase } from './database-url.ts'
import { connect } from './dump.ts'
import { type Checks } from './checks.ts'
import { checkVersion, load } from './load.ts'
import { type Lock, readBackup } from './seal.ts'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { keptVariables } from '../infra/config.ts'
import { startEmbeddedPostgres } from '../infra/postgres/embedded.ts'

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
      const stop = () => reject(new BackupProblem('The rehearsal was interrupted, and its database was removed.'))
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
const differencesOf = (found: Checks, expected: Checks | null): string[] =>
  Object.entries(found).flatMap(([name, count]) =>
    count === (expected?.[name] ?? 0)
      ? []
      : [`${name}: ${count}, and ${expected?.[name] ?? 0} in the shop when it was backed up`]
  )

/** The name of the shop's rehearsal database, under a lock that ends with the connection. */
async function reserveName(client: Client): Promise<string> {
  const { rows } = await client.query<{ oid: number; held: boolean }>(
    `select oid, pg_try_advisory_lock(hashtext('netlet rehearsal')) as held from pg_database where datname = current_database()`
  )
  if (!rows[0]?.held) throw new BackupProblem('Another rehearsal of this shop is running. Wait until it ends.')
  return `netlet_rehearsal_${rows[0].oid}`
}

/** @throws BackupProblem if there is one of this name, or the role may not create databases */
export async function createDatabase(client: Client, name: string): Promise<void> {
  try {
    await client.query(`create database ${escapeIdentifier(name)} template template0 encoding 'UTF8'`)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === '42501')
      throw new BackupProblem('The role in DATABASE_URL cannot create databases. Run: alter role NAME createdb')
    if (code === '42P04') throw new BackupProblem(`There is already a database ${name}. Name a new one.`)
    throw new BackupProblem(`The database ${name} could not be created: ${reasonOf(error)}.`)
  }
}

/** A shop that is backed up or restored: by DATABASE_URL, or the embedded database of a data folder. */
export type Place = {
  databaseUrl: string
  /** Null: the database is another program's, named by DATABASE_URL. */
  dataDir: string | null
  /** What a restored shop needs besides its database. */
  kept: Pick<Header, 'environment' | 'files'>
  close(): Promise<void>
}

/** The demo's secrets, and what its starts have already done to the database. */
const FILES = ['secrets.json', 'postgres/history.json', 'postgres/prepared.json']

/**
 * Opens the place that the environment names. The embedded database may run already, and is started otherwise.
 * @param mayBeNew makes the embedded database if there is none
 * @throws BackupProblem
 */
export async function openPlace(env: NodeJS.ProcessEnv, { mayBeNew }: { mayBeNew: boolean }): Promise<Place> {
  const environment = Object.fromEntries(
    keptVariables.flatMap(name => (env[name] === undefined || env[name] === '' ? [] : [[name, env[name]]]))
  )
  // A pooler in front of the database would end a long copy, and keeps no session.
  const databaseUrl = env['DATABASE_SESSION_URL'] || env['DATABASE_URL']
  if (databaseUrl) return { databaseUrl, dataDir: null, kept: { environment, files: {} }, close: async () => {} }
  const dataDir = resolve(env['DATA_DIR'] || './data')
  if (!mayBeNew && !existsSync(join(dataDir, 'postgres')))
    throw new BackupProblem(
      `There is no shop in ${dataDir}. Set DATABASE_URL to its database, or DATA_DIR to its folder.`
    )
  const files = Object.fromEntries(
    FILES.flatMap(name => (existsSync(join(dataDir, name)) ? [[name, readFileSync(join(dataDir, name), 'utf8')]] : []))
  )
  const postgres = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), log: () => {} }).catch(
    (error: unknown) => {
      throw new BackupProblem(reasonOf(error))
    }
  )
  const secret = appSecretOf(files)
  return {
    databaseUrl: postgres.url,
    dataDir,
    kept: { environment: { ...(secret === undefined ? {} : { APP_SECRET: secret }), ...environment }, files },
    close: () => postgres.stop()
  }
}

function appSecretOf(files: Record<string, string>): string | undefined {
  try {
    const { appSecret } = JSON.parse(files['secrets.json'] ?? '{}') as { appSecret?: unknown }
    return typeof appSecret === 'string' ? appSecret : undefined
  } catch {
    throw new BackupProblem('secrets.json of the data folder cannot be read as JSON.')
  }
}

/** Writes the files of a backup that the data folder does not have. */
export async function restoreFiles(dataDir: string, files: Record<string, string>): Promise<void> {
  for (const name of FILES) {
    const path = join(dataDir, name)
    const text = files[name]
    if (text === undefined || existsSync(path)) continue
    await mkdir(dirname(path), { recursive: true })
    await writeFile(`${path}.new`, text, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }
}
