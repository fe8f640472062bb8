import type { Database } from './client.ts'
import { StartupError } from './migrate.ts'

/** Tells one database of one server from others, as long as the server is not started again. */
const WHICH = `select current_database() || ' since ' || pg_postmaster_start_time() as which,
  current_setting('statement_timeout') = '0' as unlimited`
type Which = { which: string; unlimited: boolean }

/**
 * Checks that the pooler leads to the same database as the direct address, and warns if its sessions lack the limits
 * that direct connections set themselves.
 * @throws StartupError if it leads elsewhere
 */
export async function checkPooler(
  { $client, lockSession }: Database,
  log: { warn(text: string): void }
): Promise<void> {
  const { rows: direct } = await lockSession.use(query => query<Which>(WHICH, []))
  const { rows: pooled } = await $client.query<Which>(WHICH)
  if (direct[0]?.which !== pooled[0]?.which)
    throw new StartupError(
      'DATABASE_URL and DATABASE_SESSION_URL lead to different databases. Correct one, or the pooler between them.'
    )
  if (pooled[0]?.unlimited)
    log.warn('The pooler sets no statement_timeout: use the connect_query of deploy/pgbouncer/pgbouncer.ini.')
}
