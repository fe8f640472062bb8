import type { PoolClient } from 'pg'
import type { Log } from '../log.ts'
import type { Database } from './client.ts'
import { StartupError } from './migrate.ts'

/**
 * Checks what is between this process and PostgreSQL.
 * @param pooled the configuration says that it is a pooler
 * @throws StartupError if there is one that the configuration does not mention
 */
export async function checkPooler(
  { $client }: Pick<Database, '$client'>,
  { pooled, log }: { pooled: boolean; log: Log }
): Promise<void> {
  const client: PoolClient & { processID?: number } = await $client.connect()
  try {
    const { rows } = await client.query<{ pid: number; limit: string }>(
      `select pg_backend_pid() as pid, current_setting('statement_timeout') as limit`
    )
    // A pooler tells its clients numbers of its own.
    if (!pooled && rows[0]?.pid !== client.processID)
      throw new StartupError(
        'DATABASE_URL leads to a pooler such as PgBouncer. Set DATABASE_SESSION_URL to the address of PostgreSQL itself.'
      )
    if (pooled && rows[0]?.limit === '0')
      log.warn('The pooler sets no statement_timeout: use the connect_query of deploy/pgbouncer/pgbouncer.ini.')
  } finally {
    client.release()
  }
}
