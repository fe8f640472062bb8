import { sql } from 'drizzle-orm'
import type { Executor } from './db/client.ts'

/** How much a queue has to do. `oldest` is when the job that has waited longest was due; `dead` is in the dead letters. */
export type QueueFigures = { name: string; waiting: number; active: number; oldest: Date | null; dead: number }

/** How the queues begin that the library keeps for itself. */
const OF_LIBRARY = '__pgboss__'

/** The queues that have jobs waiting, running or failed for good, by name; not the library's own. */
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
