import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { NodePgSession } from 'drizzle-orm/node-postgres'
import { PgDialect } from 'drizzle-orm/pg-core'
import { Client } from 'pg'

const folder = fileURLToPath(new URL('../../../migrations', import.meta.url))
const domains = fileURLToPath(new URL('../../domains', import.meta.url))

/** A problem that a person has to solve before the program can start. The message says how. */
export class StartupError extends Error {
  override name = 'StartupError'
}

type Journal = { entries: { when: number }[] }

/** The migrations of this code, in order, as the times that name them in the database. */
export const knownMigrations = (): number[] =>
  (JSON.parse(readFileSync(`${folder}/meta/_journal.json`, 'utf8')) as Journal).entries.map(({ when }) => when)

/** The newest migration of a database; 0 if there is none. */
export async function appliedMigration(client: Client): Promise<number> {
  const known = await client.query<{ exists: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null as exists`
  )
  if (!known.rows[0]?.exists) return 0
  const applied = await client.query<{ newest: string | null }>(
    'select max(created_at) as newest from drizzle.__drizzle_migrations'
  )
  return Number(applied.rows[0]?.newest ?? 0)
}

/**
 * Migrates the database to this code's schema. Many processes may call it at once.
 * @param upTo the last migration to apply; the database then has the schema of an earlier version, for a backup made by it
 * @throws StartupError if the database belongs to a newer version of the code, or the address is a pooler's
 */
export async function migrate(databaseUrl: string, upTo?: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  // A lost connection fails the statement that runs. Without a listener it would end the process too.
  client.on('error', () => {})
  await client.connect()
  try {
    await refusePooler(client)
    // One process migrates. The others wait here, and then find nothing to do.
    await client.query(`select pg_advisory_lock(hashtext('netlet migrations'))`)
    await client.query('create extension if not exists pg_trgm')
    await refuseNewerSchema(client)
    const all = readMigrationFiles({ migrationsFolder: folder })
    const wanted = upTo === undefined ? all : all.filter(({ folderMillis }) => folderMillis <= upTo)
    const dialect = new PgDialect()
    await dialect.migrate(wanted, new NodePgSession(client, dialect, undefined), { migrationsFolder: folder })
    if (upTo === undefined) await applyFunctions(client)
  } finally {
    await client.end()
  }
}

/** A pooler in transaction mode would keep our locks in the sessions of others. */
async function refusePooler(client: Client & { processID?: number }): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // A pooler tells its clients numbers of its own.
  if (rows[0]?.pid !== client.processID)
    throw new StartupError(
      'A pooler such as PgBouncer stands before the database. Set DATABASE_SESSION_URL to the address of PostgreSQL itself.'
    )
}

async function refuseNewerSchema(client: Client): Promise<void> {
  if ((await appliedMigration(client)) > Math.max(...knownMigrations())) {
    throw new StartupError(
      'The database was migrated by a newer version of Netlet than this one. Update the code, or restore a backup made by this version.'
    )
  }
}

/** The SQL functions of the domains, as they are in this version. */
export const functionFiles = (): { domain: string; text: string }[] =>
  readdirSync(domains).flatMap(domain => {
    const file = `${domains}/${domain}/functions.sql`
    return existsSync(file) ? [{ domain, text: readFileSync(file, 'utf8') }] : []
  })

/** Replaces the functions of each domain whose file is not the one that was applied last. */
async function applyFunctions(client: Client): Promise<void> {
  await client.query('create table if not exists drizzle.functions (domain text primary key, hash text not null)')
  const { rows } = await client.query<{ domain: string; hash: string }>('select domain, hash from drizzle.functions')
  const applied = new Map(rows.map(({ domain, hash }) => [domain, hash]))
  for (const { domain, text } of functionFiles()) {
    const hash = createHash('sha256').update(text).digest('hex')
    if (applied.get(domain) === hash) continue
    await client.query('begin')
    await client.query(text)
    await client.query(
      `insert into drizzle.functions values ($1, $2) on conflict (domain) do update set hash = excluded.hash`,
      [domain, hash]
    )
    await client.query('commit')
  }
}
