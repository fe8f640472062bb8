import { sql, type SQL } from './db/drizzle.ts'
import type { Executor } from './db/client.ts'
import { DEAD_LETTER, type JobQueue } from './jobs.ts'

/**
 * Replaces the data of a queue's jobs in every state, and removes their outputs. A running job keeps its data until its
 * next retry. Call it at the end of a command, because jobs are locked last.
 * @param where a condition on the column `data` (jsonb)
 * @param replacement a jsonb expression of `data`
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
