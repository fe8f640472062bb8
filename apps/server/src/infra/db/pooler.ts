import type { Log } from '../log.ts'
import type { Database } from './client.ts'
import { sql } from './drizzle.ts'

/** Warns if the pooler's sessions lack the limits that direct connections set themselves. */
export async function checkPooler(db: Database, log: Log): Promise<void> {
  const { rows } = await db.execute<{ unlimited: boolean }>(
    sql`select current_setting('statement_timeout') = '0' as unlimited`
  )
  if (rows[0]?.unlimited)
    log.warn('The pooler sets no statement_timeout: use the connect_query of deploy/pgbouncer/pgbouncer.ini.')
}
