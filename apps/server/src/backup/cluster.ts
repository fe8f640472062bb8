// Databases that PostgreSQL's own tools restored, such as pgBackRest (deploy/pgbackrest).
import { setTimeout as sleep } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import { type Client, escapeIdentifier } from 'pg'
import { markRestored, opensSecrets } from '../domains/settings/index.ts'
import { DAY, HOUR } from '../infra/clock.ts'
import { appliedMigration, knownMigrations } from '../infra/db/migrate.ts'
import type { Secrets } from '../infra/secrets.ts'
import { checkInvariants, type Checks } from './checks.ts'
import { connect, shopTables } from './dump.ts'
import { BackupProblem } from './format.ts'
import { refuseRunning, SKIPPED_IDS } from './load.ts'

/** WAL is archived at least once a minute. */
const MOST_BEHIND = HOUR

/**
 * Checks a restored cluster beside the shop's, which has the same users, passwords and databases.
 * @param port where it listens on this machine
 * @returns its rows by table, what the invariants find in it, and the time of its last transaction
 * @throws BackupProblem if it cannot be used, or ends more than an hour before `now`
 */
export async function checkCluster(
  databaseUrl: string,
  { port, secrets, now }: { port: string; secrets: Secrets; now: Date }
): Promise<{ rows: { table: string; rows: number }[]; found: Checks; until: Date }> {
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = port
  const client = await connect(url.href).catch(() => {
    throw new BackupProblem(
      `No restored database responds on port ${port}. For the reason, see journalctl -u netlet-rehearse.`
    )
  })
  try {
    const until = await replayedUntil(client)
    if (until === null)
      throw new BackupProblem(`The database at port ${port} was not restored, or has restarted since.`)
    await refuseNewer(client)
    const db = drizzle(client, { casing: 'snake_case' })
    if (!(await opensSecrets(db, secrets))) throw new BackupProblem('APP_SECRET does not match the restored database.')
    const rows: { table: string; rows: number }[] = []
    for (const { table } of await shopTables(client)) {
      const counted = await client.query<{ rows: number }>(`select count(*) as rows from ${escapeIdentifier(table)}`)
      rows.push({ table, rows: Number(counted.rows[0]?.rows) })
    }
    const found = await checkInvariants(db)
    const wrong = Object.entries(found).filter(([, count]) => count > 0)
    if (wrong.length > 0)
      throw new BackupProblem(
        `Wrong in the restored shop: ${wrong.map(([name, count]) => `${name}: ${count}`).join('; ')}.`
      )
    if (now.getTime() - until.getTime() > MOST_BEHIND)
      throw new BackupProblem(
        `The restored database ends at ${until.toISOString()}. Check why WAL is not archived: pgbackrest --stanza=netlet check`
      )
    return { rows, found, until }
  } finally {
    await client.end()
  }
}

/**
 * Prepares the shop's own database for its start after it was restored to an earlier moment: the shop then finds what
 * was paid since, and gives no id twice. It waits until the server has replayed all. A second time does no harm.
 * @param at the moment to which it was restored, or a later one
 * @throws BackupProblem if processes of the shop are connected
 */
export async function markCluster(databaseUrl: string, { at, now }: { at: Date; now: Date }): Promise<Date> {
  const client = await connect(databaseUrl)
  try {
    await refuseRunning(client)
    if ((await appliedMigration(client)) === 0)
      throw new BackupProblem('The database contains no shop. Check DATABASE_URL.')
    await refuseNewer(client)
    while (await isReplaying(client)) await sleep(1000)
    const until = await replayedUntil(client)
    const backupAt = until !== null && until < at ? until : at
    await client.query('begin')
    await client.query(
      `select setval(format('%I.%I', schemaname, sequencename)::regclass, last_value + $1)
       from pg_sequences where schemaname = 'public' and last_value is not null`,
      [SKIPPED_IDS]
    )
    await markRestored(drizzle(client, { casing: 'snake_case' }), { backupAt, restoredAt: now })
    // The queue would drop the jobs of that time as overdue.
    await client.query(`update pgboss.job set keep_until = greatest(keep_until, $1) where state < 'completed'`, [
      new Date(now.getTime() + DAY)
    ])
    await client.query('commit')
    return backupAt
  } finally {
    await client.end()
  }
}

/** When the last transaction was committed that a recovery applied; null if the server began without one. */
async function replayedUntil(client: Client): Promise<Date | null> {
  const { rows } = await client.query<{ at: Date | null }>('select pg_last_xact_replay_timestamp() as at')
  return rows[0]?.at ?? null
}

/** A server answers reads before it has replayed all changes up to the wanted moment. */
async function isReplaying(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ still: boolean }>('select pg_is_in_recovery() as still')
  return rows[0]?.still === true
}

async function refuseNewer(client: Client): Promise<void> {
  if ((await appliedMigration(client)) > Math.max(...knownMigrations()))
    throw new BackupProblem('The database belongs to a newer version of Netlet. Update the code first.')
}
