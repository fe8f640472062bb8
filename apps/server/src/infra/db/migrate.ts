import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator'
import { Client } from 'pg'

const folder = fileURLToPath(new URL('../../../migrations', import.meta.url))
const domains = fileURLToPath(new URL('../../domains', import.meta.url))

/** A problem that a person has to solve before the program can start. The message says how. */
export class StartupError extends Error {
  override name = 'StartupError'
}

type Journal = { entries: { when: number }[] }

/**
 * Migrates the database to this code's schema. Many processes may call it at once.
 * @throws StartupError if the database belongs to a newer version of the code
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    // One process migrates. The others wait here, and then find nothing to do.
    await client.query(`select pg_advisory_lock(hashtext('netlet migrations'))`)
    await client.query('create extension if not exists pg_trgm')
    await refuseNewerSchema(client)
    await applyMigrations(drizzle(client), { migrationsFolder: folder })
    await applyFunctions(client)
  } finally {
    await client.end()
  }
}

async function refuseNewerSchema(client: Client): Promise<void> {
  const known = await client.query<{ exists: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null as exists`
  )
  if (!known.rows[0]?.exists) return
  const journal = JSON.parse(readFileSync(`${folder}/meta/_journal.json`, 'utf8')) as Journal
  const newestHere = Math.max(...journal.entries.map(entry => entry.when))
  const applied = await client.query<{ newest: string | null }>(
    'select max(created_at) as newest from drizzle.__drizzle_migrations'
  )
  if (Number(applied.rows[0]?.newest ?? 0) > newestHere) {
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
