import { drizzle } from 'drizzle-orm/node-postgres'
import { Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { appliedMigration, knownMigrations } from '../infra/db/migrate.ts'
import { SESSION_OPTIONS } from '../infra/db/client.ts'
import type { Secrets } from '../infra/secrets.ts'
import { opensSecrets } from '../domains/settings/index.ts'
import { checkInvariants } from './checks.ts'
import { type Counted, Counter, FRAME_BYTES, type Header, type Manifest, type Part } from './format.ts'
import { BackupProblem, reasonOf } from './problem.ts'
import { storedTables } from './tables.ts'

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
    throw new BackupProblem(`The database does not answer: ${reasonOf(error)}. Check DATABASE_URL and that it runs.`)
  }
}

/**
 * All that a backup holds, as it is at one moment: one snapshot of the whole database, while the shop goes on.
 * @param told receives the manifest at the end
 */
export async function* dump(
  client: Client,
  more: Pick<Header, 'environment' | 'files'> & { at: Date; secrets: Secrets },
  told: (manifest: Manifest) => void
): AsyncGenerator<Part> {
  await client.query('begin isolation level repeatable read read only')
  const migration = await appliedMigration(client)
  if (!knownMigrations().includes(migration))
    throw new BackupProblem(
      migration === 0
        ? 'The database holds no shop: check DATABASE_URL or DATA_DIR.'
        : 'The database belongs to another version of Netlet. Back it up with the code that runs on it.'
    )
  const { environment, files, at, secrets } = more
  if (!(await opensSecrets(drizzle(client, { casing: 'snake_case' }), secrets)))
    throw new BackupProblem(
      'APP_SECRET is not the one of this database: a backup with it could not be used. Set the right one.'
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
  told(manifest)
  yield { kind: 'end', manifest }
}
