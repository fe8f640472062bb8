import { reasonOf } from '../infra/text.ts'
import { drizzle } from 'drizzle-orm/node-postgres'
import { type Client, escapeIdentifier } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { appliedMigration, knownMigrations, migrate } from '../infra/db/migrate.ts'
import { makeQueues } from '../infra/jobs.ts'
import { createLog } from '../infra/log.ts'
import { DAY } from '../infra/clock.ts'
import { markRestored } from '../domains/settings/index.ts'
import { allQueues } from '../workers.ts'
import { columnsOf, connect, JOBS, shopTables } from './dump.ts'
import { checkInvariants, type Checks } from './checks.ts'
import {
  BackupProblem,
  compare,
  type Counted,
  Counter,
  type Header,
  type Manifest,
  type Part,
  type Table
} from './format.ts'

/**
 * Ids that no row gets after a restore. Rows that were added since the backup are lost here, but others may know their
 * ids: customers' programs, receivers of webhooks, the platform's memory of refund requests.
 */
export const SKIPPED_IDS = 100_000

/** @throws BackupProblem if this code cannot restore the backup */
export function checkVersion({ migration }: Header): void {
  const known = knownMigrations()
  if (migration > Math.max(...known))
    throw new BackupProblem('The backup comes from a newer version of Netlet. Update the code, then restore it.')
  if (!known.includes(migration))
    throw new BackupProblem('The backup comes from a version of Netlet that this one cannot restore.')
}

/** @throws BackupProblem if a process of a shop uses the database */
export async function refuseRunning(client: Client): Promise<void> {
  const { rows } = await client.query(
    `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
     and application_name like 'netlet%' limit 1`
  )
  if (rows.length > 0)
    throw new BackupProblem(
      'A shop is running on this database. Stop it, or restore into a new database with --into NAME.'
    )
}

/** @throws BackupProblem if the database holds a shop, or a process of a shop uses it */
export async function refuseUsed(client: Client): Promise<void> {
  await refuseRunning(client)
  const { rows: tables } = await client.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema', 'drizzle', 'pgboss')
       and n.nspname not like 'pg\\_%'`
  )
  if (tables.length === 0) return
  // A schema without a user is what an interrupted restore leaves.
  const isOurs = (await appliedMigration(client)) > 0
  const isFilled = !isOurs || (await client.query('select 1 from users limit 1')).rows.length > 0
  if (isFilled)
    throw new BackupProblem('The database is not empty. Restore into a new one: npm run restore -- FILE --into NAME')
}

/**
 * Restores a verified backup into an empty database, and migrates it to this code's schema. All rows come in one
 * transaction.
 * @param isRehearsal the copy will never run, so it needs no marks of a restore
 * @returns what the invariants find in it
 */
export async function load(
  databaseUrl: string,
  parts: AsyncIterable<Part>,
  { header, isRehearsal, now }: { header: Header; isRehearsal: boolean; now: Date }
): Promise<Checks> {
  await migrate(databaseUrl, header.migration)
  const client = await connect(databaseUrl)
  try {
    if ((await appliedMigration(client)) !== header.migration)
      throw new BackupProblem(
        'The database has a different schema version than the backup. Restore into a new one with --into NAME.'
      )
    await makeQueues(databaseUrl, createLog('restore', 'error'), allQueues)
    await client.query('begin')
    await copyIn(client, parts, now)
    if (!isRehearsal)
      await markRestored(drizzle(client, { casing: 'snake_case' }), { backupAt: new Date(header.at), restoredAt: now })
    await client.query('commit')
    await migrate(databaseUrl)
    return await checkInvariants(drizzle(client, { casing: 'snake_case' }))
  } finally {
    await client.end()
  }
}

async function copyIn(client: Client, parts: AsyncIterable<Part>, now: Date): Promise<void> {
  const tables = await shopTables(client)
  const names = tables.map(({ table }) => escapeIdentifier(table)).join(', ')
  await client.query(`lock table ${names} in access exclusive mode`)
  const { rows } = await client.query('select 1 from users limit 1')
  if (rows.length > 0)
    throw new BackupProblem('Another program has filled the database. Restore into a new one with --into NAME.')
  // The rows are consistent as they are: what the triggers derive is in the backup.
  for (const { table } of tables) await client.query(`alter table ${escapeIdentifier(table)} disable trigger user`)
  await client.query(`truncate ${names}`)
  await client.query('create temporary table restored_jobs (like pgboss.job including defaults) on commit drop')
  const known = new Map(tables.map(({ table, columns }) => [table, columns]))
  known.set(JOBS, await columnsOf(client, 'pgboss', 'job'))
  const manifest = await copyTables(client, parts, known)
  await restoreJobs(client, now)
  for (const [name, last] of Object.entries(manifest.sequences))
    await client.query('select setval(to_regclass($1), $2, true)', [
      `public.${escapeIdentifier(name)}`,
      last + SKIPPED_IDS
    ])
  for (const { table } of tables) await client.query(`alter table ${escapeIdentifier(table)} enable trigger user`)
}

async function copyTables(
  client: Client,
  parts: AsyncIterable<Part>,
  known: ReadonlyMap<string, string[]>
): Promise<Manifest> {
  const found: Counted[] = []
  let copying: { table: Table; counter: Counter; stream: ReturnType<typeof copyFrom>; done: Promise<void> } | undefined
  const finish = async () => {
    if (!copying) return
    copying.stream.end()
    await copying.done.catch(error => {
      throw new BackupProblem(`The table ${copying?.table.table} cannot be restored: ${reasonOf(error)}.`)
    })
    found.push(copying.counter.of(copying.table.table))
    copying = undefined
  }
  for await (const part of parts) {
    if (part.kind === 'rows') {
      if (!copying) throw new BackupProblem('The backup is damaged: it has rows without a table. Use another one.')
      copying.counter.add(part.bytes)
      if (!copying.stream.write(part.bytes)) await Promise.race([once(copying.stream, 'drain'), copying.done])
      continue
    }
    await finish()
    if (part.kind === 'table') {
      const { table, columns } = part.table
      const own = known.get(table)
      const strange = own ? columns.find(column => !own.includes(column)) : table
      if (strange !== undefined)
        throw new BackupProblem(`The backup is not of this shop's schema: there is no ${table}.${strange}.`)
      const into = table === JOBS ? 'restored_jobs' : `public.${escapeIdentifier(table)}`
      const text = `copy ${into} (${columns.map(escapeIdentifier).join(', ')}) from stdin`
      const stream = client.query(copyFrom(text))
      const done = finished(stream)
      done.catch(() => {})
      copying = { table: part.table, counter: new Counter(), stream, done }
    }
    if (part.kind === 'end') {
      compare(found, part.manifest)
      return part.manifest
    }
  }
  throw new BackupProblem('The backup is damaged: it has no end. Use another one.')
}

/** Jobs of queues that this version does not have are left out. The queue would drop those of an old backup as overdue. */
async function restoreJobs(client: Client, now: Date): Promise<void> {
  const soon = new Date(now.getTime() + DAY)
  await client.query('update restored_jobs set keep_until = greatest(keep_until, $1)', [soon])
  const columns = (await columnsOf(client, 'pgboss', 'job')).map(escapeIdentifier).join(', ')
  await client.query(
    `insert into pgboss.job (${columns}) select ${columns} from restored_jobs
     where name in (select name from pgboss.queue) on conflict do nothing`
  )
}
