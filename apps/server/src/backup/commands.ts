import { writeFile } from 'node:fs/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import { type Client, escapeIdentifier } from 'pg'
import { recordRehearsal } from '../domains/settings/index.ts'
import { createSecrets, type Secrets } from '../infra/secrets.ts'
import { BackupProblem, type Header, type Manifest, type Part } from './format.ts'
import { reasonOf } from '../infra/text.ts'
import type { Checks } from './checks.ts'
import { checkCluster, markCluster } from './cluster.ts'
import { withDatabase } from './database-url.ts'
import { connect, dump } from './dump.ts'
import { checkVersion, load, refuseUsed } from './load.ts'
import { createDatabase, openPlace, type Place, rehearse, restoreFiles } from './rehearse.ts'
import { backupsIn, removeOldBackups, type Lock, lockFrom, readBackup, verifyBackup, writeBackup } from './seal.ts'

const FOLDER = './backups'

export type BackupContext = {
  env: NodeJS.ProcessEnv
  say: (line: string) => void
  signal: AbortSignal
  /** Only tests set these. */
  lock?: Lock
  now?: () => Date
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`
const rowsOf = ({ tables }: { tables: readonly { rows: number }[] }): number =>
  tables.reduce((sum, { rows }) => sum + rows, 0)

/** Backs the shop up into a new file of the folder, and keeps the newest `keep` ones. */
export async function backUp(
  { to = FOLDER, keep }: { to?: string | undefined; keep?: string | undefined },
  { env, say, signal, lock = lockFrom(env), now = () => new Date() }: BackupContext
): Promise<void> {
  if (keep !== undefined && !/^[1-9]\d{0,4}$/.test(keep))
    throw new BackupProblem('--keep takes the number of backups to keep, such as 14.')
  lock.encrypter()
  const begun = performance.now()
  const place = await openPlace(env, { mayBeNew: false })
  try {
    const client = await connect(place.databaseUrl)
    try {
      let manifest: Manifest | undefined
      const at = now()
      const parts = stopping(
        dump(client, { ...place.kept, at, secrets: secretsOf(place) }, made => (manifest = made)),
        signal
      )
      const { path, bytes } = await writeBackup(to, { lock, at }, parts)
      if (!manifest) throw new Error('there is no manifest')
      const removed = keep === undefined ? 0 : await removeOldBackups(path, Number(keep))
      const wrong = Object.entries(manifest.checks ?? {}).filter(([, count]) => count > 0)
      for (const [name, count] of wrong) say(`Wrong in the shop itself: ${name}: ${count}.`)
      if (removed > 0) say(`${removed} older backup(s) removed.`)
      say('It contains the whole database with the agent tokens, APP_SECRET and the environment settings.')
      say(`Keep the passphrase or age secret key and this file in another place: ${path}`)
      say(
        `Backed up: ${manifest.tables.length} tables, ${rowsOf(manifest)} rows, ${megabytes(bytes)}, ${seconds(begun)}.`
      )
    } finally {
      await client.end()
    }
  } finally {
    await place.close()
  }
}

function secretsOf({ kept }: Place): Secrets {
  const secret = kept.environment['APP_SECRET']
  if (!secret) throw new BackupProblem('Set APP_SECRET to the one of the shop. A backup cannot be used without it.')
  return createSecrets(secret, kept.environment['APP_SECRET_PREVIOUS'] ?? '')
}

async function* stopping(parts: AsyncIterable<Part>, signal: AbortSignal): AsyncGenerator<Part> {
  for await (const part of parts) {
    if (signal.aborted) throw new BackupProblem('The backup was interrupted, and its file was removed.')
    yield part
  }
}

export type RestoreOptions = {
  file?: string | undefined
  /** The folder whose newest backup is taken if no file is named. */
  from?: string | undefined
  /** A database to make on the same server. */
  into?: string | undefined
  /** A file to write the environment's settings to. */
  secrets?: string | undefined
  rehearse?: boolean | undefined
  /** With `rehearse`: a cluster that was restored beside the shop's listens at this port of this machine. */
  port?: string | undefined
  /** The shop's own database was restored to this moment by PostgreSQL's tools. */
  marked?: string | undefined
}

/** Restores a backup into an empty or a new database, rehearses that, or prepares a restored database for its start. */
export async function restore(options: RestoreOptions, around: BackupContext): Promise<void> {
  if (options.rehearse) return rehearseAndRecord(options, around)
  if (options.marked !== undefined) return mark(options.marked, around)
  const { env, say, signal, lock = lockFrom(env), now = () => new Date() } = around
  const begun = performance.now()
  const { path, header, manifest } = await pick(options, lock)
  const place = await openPlace(env, { mayBeNew: true })
  try {
    refuseOtherSecret(place, header, options)
    if (options.secrets !== undefined) await writeSecrets(options.secrets, header)
    const databaseUrl = options.into === undefined ? place.databaseUrl : withDatabase(place.databaseUrl, options.into)
    const drop = await makeRoom(place, options.into)
    const found = await load(databaseUrl, stopping(readBackup(path, lock), signal), {
      header,
      isRehearsal: false,
      now: now()
    }).catch(async (error: unknown) => {
      await drop()
      throw error
    })
    if (place.dataDir !== null && options.into === undefined) await restoreFiles(place.dataDir, header.files)
    for (const [name, count] of Object.entries(found)) if (count > 0) say(`Wrong: ${name}: ${count}.`)
    if (options.into !== undefined) say(`Restored into the database ${options.into}. Set DATABASE_URL to it.`)
    if (options.secrets !== undefined) say(`The environment settings are in ${options.secrets}.`)
    say('Start the shop. It first looks for payments made since the backup. Health shows when it sells again.')
    say(`Restored: ${figuresOf(manifest.tables, header.at, begun)}`)
  } finally {
    await place.close()
  }
}

const figuresOf = (tables: readonly { rows: number }[], at: string, begun: number): string =>
  `${tables.length} tables, ${rowsOf({ tables })} rows of ${at}, ${seconds(begun)}.`

/** The backup that is meant, verified. */
async function pick({ file, from = FOLDER, rehearse: newest }: RestoreOptions, lock: Lock) {
  lock.decrypter()
  const path = file ?? (await backupsIn(from)).at(-1)
  if (path === undefined) throw new BackupProblem(`There is no backup in ${from}. Name the file.`)
  if (!newest && file === undefined) throw new BackupProblem(`Name the backup to restore; the newest is ${path}`)
  const { header, manifest } = await verifyBackup(path, lock)
  checkVersion(header)
  return { path, header, manifest }
}

/** Rehearses a restore, and keeps the outcome in the shop, for Health. */
async function rehearseAndRecord(options: RestoreOptions, around: BackupContext): Promise<void> {
  if (options.into !== undefined || options.secrets !== undefined)
    throw new BackupProblem(
      '--rehearse creates and removes its own database. Do not combine it with --into or --secrets.'
    )
  const { env, signal, now = () => new Date() } = around
  const place = await openPlace(env, { mayBeNew: false })
  const note = (outcome: { dataUntil: Date | null; error: string | null }) =>
    withClient(place, client => recordRehearsal(drizzle(client, { casing: 'snake_case' }), { at: now(), ...outcome }))
  try {
    const dataUntil = await (options.port === undefined ? rehearseFile : rehearseCluster)(place, options, around)
    await note({ dataUntil, error: null })
  } catch (error) {
    if (!signal.aborted) await note({ dataUntil: null, error: reasonOf(error) }).catch(() => {})
    throw error
  } finally {
    await place.close()
  }
}

function report(say: BackupContext['say'], tables: readonly { table: string; rows: number }[], found: Checks): void {
  for (const { table, rows } of tables) if (rows > 0) say(`  ${table}: ${rows} rows`)
  for (const [name, count] of Object.entries(found)) say(`  ${name}: ${count}`)
}

async function rehearseFile(place: Place, options: RestoreOptions, around: BackupContext): Promise<Date> {
  const { env, say, signal, lock = lockFrom(env), now = () => new Date() } = around
  const begun = performance.now()
  const { path, header, manifest } = await pick(options, lock)
  const { found, differences } = await rehearse(place.databaseUrl, { path, lock, header, manifest, now: now() }, signal)
  say(`Rehearsed with ${path}`)
  report(say, manifest.tables, found)
  if (differences.length > 0)
    throw new BackupProblem(`The restored shop differs from the one that was backed up: ${differences.join('; ')}.`)
  say(`Rehearsed, and removed: ${figuresOf(manifest.tables, header.at, begun)}`)
  return new Date(header.at)
}

async function rehearseCluster(place: Place, { port = '' }: RestoreOptions, around: BackupContext): Promise<Date> {
  const begun = performance.now()
  const { say, now = () => new Date() } = around
  const { rows, found, until } = await checkCluster(place.databaseUrl, { port, secrets: secretsOf(place), now: now() })
  report(say, rows, found)
  say(`Rehearsed: ${figuresOf(rows, until.toISOString(), begun)}`)
  return until
}

/** Prepares the shop's database for its start after PostgreSQL's tools restored it. */
async function mark(moment: string, { env, say, now = () => new Date() }: BackupContext): Promise<void> {
  const at = new Date(moment)
  if (Number.isNaN(at.getTime()) || at > now())
    throw new BackupProblem("--mark takes the time that was restored, such as '2026-03-01 14:05:00+00'.")
  const place = await openPlace(env, { mayBeNew: false })
  try {
    const since = await markCluster(place.databaseUrl, { at, now: now() })
    say('Start the shop. It first looks for payments made since then. Health shows when it sells again.')
    say(`Marked as restored to ${since.toISOString()}.`)
  } finally {
    await place.close()
  }
}

/** With another secret the shop could open none of its own. */
function refuseOtherSecret({ kept, dataDir }: Place, header: Header, { secrets }: RestoreOptions): void {
  const own = kept.environment['APP_SECRET']
  const wanted = header.environment['APP_SECRET']
  const isKnown = own === wanted || (kept.environment['APP_SECRET_PREVIOUS'] === wanted && wanted !== undefined)
  if (own === undefined ? dataDir !== null || secrets !== undefined : isKnown) return
  throw new BackupProblem(
    own === undefined
      ? 'Set APP_SECRET to the one of the backup, or let --secrets FILE write it to a file.'
      : 'APP_SECRET does not match the backup. Set the right one, or unset it and let --secrets FILE write it to a file.'
  )
}

/** @returns removes the database that was made for a restore which fails */
async function makeRoom(place: Place, into: string | undefined): Promise<() => Promise<void>> {
  await withClient(place, client => (into === undefined ? refuseUsed(client) : createDatabase(client, into)))
  return async () => {
    if (into !== undefined)
      await withClient(place, client => client.query(`drop database ${escapeIdentifier(into)} with (force)`))
  }
}

async function withClient({ databaseUrl }: Place, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = await connect(databaseUrl)
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

async function writeSecrets(file: string, { environment }: Header): Promise<void> {
  const lines = Object.entries(environment).map(([name, value]) => `${name}='${value.replaceAll("'", `'\\''`)}'\n`)
  await writeFile(file, lines.join(''), { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    throw new BackupProblem(`The settings cannot be written to ${file}: ${reasonOf(error)}.`)
  })
}
