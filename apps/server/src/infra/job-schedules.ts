import type { RunResult } from '@netlet/contract'
import { CronExpressionParser } from 'cron-parser'
import { sql } from './db/drizzle.ts'
import type { Executor } from './db/client.ts'

export type LastRun = { at: Date | null; result: RunResult; error: string | null; asked: boolean }

/** When a cron expression (UTC) is due next; null if never. */
export function nextRun(cron: string, now: Date): Date | null {
  const times = CronExpressionParser.parse(cron, { currentDate: now, tz: 'UTC' })
  return times.hasNext() ? times.next().toDate() : null
}

/** The latest run of each queue among the jobs that are still kept. `asked`: another one is due. */
export async function lastRuns(db: Executor, queues: readonly string[]): Promise<Map<string, LastRun>> {
  const { rows } = await db.execute<{
    name: string
    at: string | null
    state: string | null
    error: string | null
    asked: boolean
  }>(sql`
    select queue.name, last.at, last.state, last.error,
      exists (
        select from pgboss.job where name = queue.name and state in ('created', 'retry') and start_after <= now()
      ) as asked
    from unnest(${sql.param([...queues])}::text[]) queue (name)
    left join lateral (
      select coalesce(completed_on, started_on) as at, state::text as state,
        coalesce(output ->> 'message', output ->> 'value') as error
      from pgboss.job where name = queue.name and started_on is not null
      order by started_on desc limit 1
    ) last on true`)
  return new Map(
    rows.map(({ name, at, state, error, asked }) => [
      name,
      {
        at: at === null ? null : new Date(at),
        result: resultOf(state),
        error: state === 'completed' ? null : error,
        asked
      }
    ])
  )
}

function resultOf(state: string | null): RunResult {
  if (state === null) return 'none'
  if (state === 'active') return 'running'
  return state === 'completed' ? 'completed' : 'failed'
}

export type QueueRow = {
  name: string
  waiting: number
  later: number
  active: number
  dead: number
  oldest: Date | null
  finished: number
}

/** Each queue's workload, and how many of its jobs finished in the last hour. Queues without jobs are left out. */
export async function queueStates(db: Executor): Promise<Map<string, QueueRow>> {
  const { rows } = await db.execute<Omit<QueueRow, 'oldest'> & { oldest: string | null }>(sql`
    select coalesce(source_name, name) as name,
      count(*) filter (where source_name is null and due)::int as waiting,
      count(*) filter (where source_name is null and not due and state in ('created', 'retry'))::int as later,
      count(*) filter (where source_name is null and state = 'active')::int as active,
      count(*) filter (where source_name is not null and state <> 'completed')::int as dead,
      min(start_after) filter (where source_name is null and due) as oldest,
      count(*) filter (where source_name is null and state = 'completed')::int as finished
    from (
      select *, state in ('created', 'retry') and start_after <= now() as due from pgboss.job
      where state in ('created', 'retry', 'active') or (state = 'failed' and source_name is not null)
        or (state = 'completed' and completed_on > now() - interval '1 hour')
    ) job group by 1`)
  return new Map(rows.map(row => [row.name, { ...row, oldest: row.oldest === null ? null : new Date(row.oldest) }]))
}

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
