import { drizzle } from 'drizzle-orm/node-postgres'
import { Client, escapeIdentifier } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { appliedMigration, knownMigrations } from '../infra/db/migrate.ts'
import { SESSION_OPTIONS } from '../infra/db/client.ts'
import type { Secrets } from '../infra/secrets.ts'
import { opensSecrets } from '../domains/settings/index.ts'
import { BackupProblem, type Counted, Counter, FRAME_BYTES, type Header, type Manifest, type Part } from './format.ts'
import { reasonOf } from '../infra/text.ts'

import { checkInvariants } from './checks.ts'

/** A connection for statements that take as long as they need. @throws BackupProblem */
export async function connect(databaseUrl: string): Promise<Client> {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'netlet backup',
    connectionTimeoutMillis: 10_000,
    options: `-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 ${SESSION_OPTIONS}`
  })
  // A lost connection also fails the statement that runs.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    throw new BackupProblem(
      `The database does not respond: ${reasonOf(error)}. Check DATABASE_URL, and that the database is running.`
    )
  }
}

/**
 * All that a backup holds, as it is at one moment: one snapshot of the whole database, while the shop goes on.
 * @param onManifest receives the manifest at the end
 */
export async function* dump(
  client: Client,
  more: Pick<Header, 'environment' | 'files'> & { at: Date; secrets: Secrets },
  onManifest: (manifest: Manifest) => void
): AsyncGenerator<Part> {
  await client.query('begin isolation level repeatable read read only')
  const migration = await appliedMigration(client)
  if (!knownMigrations().includes(migration))
    throw new BackupProblem(
      migration === 0
        ? 'The database contains no shop. Check DATABASE_URL or DATA_DIR.'
        : 'The database belongs to another version of Netlet. Back it up with the version that runs on it.'
    )
  const { environment, files, at, secrets } = more
  if (!(await opensSecrets(drizzle(client, { casing: 'snake_case' }), secrets)))
    throw new BackupProblem(
      'APP_SECRET does not match this database, so its backup could not be used. Set the right one.'
    )
  yield { kind: 'header', header: { netlet_backup: 1, at: at.toISOString(), migration, environment, files } }
  const tables: Counted[] = []
  for (const { table, columns, select } of await storedTables(client)) {
    yield { kind: 'table', table: { table, columns } }
    const counter = new Counter()
    for await (const chunk of client.query(copyTo(`copy ${select} to stdout`))) {
      const bytes = chunk as Buffer
      counter.add(bytes)
      for (let from = 0; from < bytes.length; from += FRAME_BYTES)
        yield { kind: 'rows', bytes: bytes.subarray(from, from + FRAME_BYTES) }
    }
    tables.push(counter.of(table))
  }
  // Sequences know no snapshot: they are read last, so that none is behind its rows.
  const sequences = await client.query<{ name: string; last: string }>(
    `select sequencename as name, last_value as last from pg_sequences where schemaname = 'public' and last_value is not null`
  )
  const isNewest = migration === Math.max(...knownMigrations())
  const manifest: Manifest = {
    tables,
    sequences: Object.fromEntries(sequences.rows.map(({ name, last }) => [name, Number(last)])),
    checks: isNewest ? await checkInvariants(drizzle(client, { casing: 'snake_case' })) : null
  }
  await client.query('commit')
  onManifest(manifest)
  yield { kind: 'end', manifest }
}

/**
 * Not in a backup: what opens an account for minutes or days. A restore would bring back sessions that were ended since,
 * so everybody signs in again.
 */
const LEFT_OUT = new Set(['sessions', 'captchas', 'email_codes', 'oauth_states'])

/** Jobs that have not ended, with the queue's own settings of each. A running one runs again. */
export const JOBS = 'pgboss_job'
const JOB_COLUMNS =
  'id name data priority state retry_limit retry_count retry_delay retry_backoff retry_delay_max expire_seconds deletion_seconds singleton_key singleton_on group_id group_tier start_after created_on keep_until output dead_letter policy heartbeat_seconds source_name source_id source_created_on source_retry_count source_output source_root_id'.split(
    ' '
  )

export type StoredTable = { table: string; columns: string[]; select: string }

/** The tables of a shop's database, each after those that it refers to, without generated columns. */
async function storedTables(client: Client): Promise<StoredTable[]> {
  const all = await shopTables(client)
  const rows = all
    .filter(({ table }) => !LEFT_OUT.has(table))
    .map(one => ({
      ...one,
      select: `${escapeIdentifier(one.table)} (${one.columns.map(escapeIdentifier).join(', ')})`
    }))
  const jobs = await columnsOf(client, 'pgboss', 'job')
  const columns = JOB_COLUMNS.filter(column => jobs.includes(column))
  if (columns.length === 0) return rows
  const values = columns.map(column =>
    column === 'state' ? "case when state = 'active' then 'retry' else state end" : escapeIdentifier(column)
  )
  return [
    ...rows,
    { table: JOBS, columns, select: `(select ${values.join(', ')} from pgboss.job where state < 'completed')` }
  ]
}

/** All tables of the schema `public`, each after those that it refers to. */
export async function shopTables(client: Client): Promise<{ table: string; columns: string[] }[]> {
  const { rows } = await client.query<{ table: string; columns: string[]; refers: string[] }>(`
    select c.relname as table,
      array(select attname::text from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
      array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as refers
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`)
  const ordered: { table: string; columns: string[] }[] = []
  const done = new Set<string>()
  while (ordered.length < rows.length) {
    const ready = rows.filter(({ table, refers }) => !done.has(table) && refers.every(other => done.has(other)))
    if (ready.length === 0) throw new Error('tables refer to each other in a circle')
    for (const { table, columns } of ready) {
      ordered.push({ table, columns })
      done.add(table)
    }
  }
  return ordered
}

export async function columnsOf(client: Client, schema: string, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [`${schema}.${table}`]
  )
  return rows.map(({ name }) => name)
}
