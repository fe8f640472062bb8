import { sql } from './db/drizzle.ts'
import type { Executor } from './db/client.ts'

/** A queue's workload. `oldest`: when the job that waits longest was due. `dead`: its dead letters. */
export type QueueFigures = { name: string; waiting: number; active: number; oldest: Date | null; dead: number }

/** Prefix of the library's own queues. */
const OF_LIBRARY = '__pgboss__'

/** Queues with waiting or running jobs or dead letters, by name, without the library's own. */
export async function queueFigures(db: Executor): Promise<QueueFigures[]> {
  const { rows } = await db.execute<{
    name: string
    waiting: number
    active: number
    oldest: string | null
    dead: number
  }>(sql`
    select coalesce(source_name, name) as name,
      count(*) filter (where source_name is null and state in ('created', 'retry') and start_after <= now())::int as waiting,
      count(*) filter (where source_name is null and state = 'active')::int as active,
      min(start_after) filter (where source_name is null and state in ('created', 'retry') and start_after <= now()) as oldest,
      count(*) filter (where source_name is not null)::int as dead
    from pgboss.job where state in ('created', 'retry', 'active') and not starts_with(name, ${OF_LIBRARY})
    group by 1 order by 1`)
  return rows.map(row => ({ ...row, oldest: row.oldest === null ? null : new Date(row.oldest) }))
}
