import { sql, type SQL } from 'drizzle-orm'
import type { Executor } from './db/client.ts'
import { DEAD_LETTER, type JobQueue } from './jobs.ts'

/**
 * Replaces what jobs carry, whatever became of them: those that wait, run, have ended, or are kept as dead letters. One that
 * runs goes on with what it was given; its next try, if any, gets the new data. What its last try reported is removed too.
 * Call it at the end of a command, since jobs are locked last.
 * @param where a condition on the column `data` (jsonb)
 * @param replacement a jsonb expression, of `data`
 */
export async function replaceJobData(
  tx: Executor,
  { name }: JobQueue<object>,
  where: SQL,
  replacement: SQL
): Promise<void> {
  await tx.execute(sql`
    update pgboss.job set data = ${replacement}, output = null
    where name in (${name}, ${DEAD_LETTER}) and coalesce(source_name, name) = ${name} and ${where}`)
}
