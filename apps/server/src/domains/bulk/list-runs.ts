import { refuse, sentenceOf, type BulkRow, type BulkRun, type Page } from '@netlet/contract'
import { and, asc, count, desc, eq } from 'drizzle-orm'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pageOf } from '../../infra/http/paging.ts'
import { ok, type Result } from '../../infra/result.ts'
import { bulkRows, bulkRuns } from './tables.ts'

type Range = { limit: number; offset: number }

/** A page of runs, newest first. */
export async function listRuns(db: Executor, range: Range): Promise<Page<BulkRun>> {
  const [[counted], runs] = await Promise.all([
    db.select({ total: count() }).from(bulkRuns),
    db.select().from(bulkRuns).orderBy(desc(bulkRuns.id)).limit(range.limit).offset(range.offset)
  ])
  return pageOf(runs.map(presentRun), counted?.total ?? 0, range)
}

export async function findRun(db: Executor, id: number): Promise<Result<BulkRun>> {
  const [run] = await db.select().from(bulkRuns).where(eq(bulkRuns.id, id))
  return run ? ok(presentRun(run)) : refuse('not_found')
}

/** A page of a run's rows. The run's own figures say how many there are: nothing is counted. */
export async function listRows(
  db: Executor,
  runId: number,
  { state, ...range }: Range & { state?: BulkRow['state'] | undefined }
): Promise<Result<Page<BulkRow>>> {
  const [run] = await db.select().from(bulkRuns).where(eq(bulkRuns.id, runId))
  if (!run) return refuse('not_found')
  const rows = await db
    .select()
    .from(bulkRows)
    .where(and(eq(bulkRows.runId, runId), state ? eq(bulkRows.state, state) : undefined))
    .orderBy(asc(bulkRows.rowId))
    .limit(range.limit)
    .offset(range.offset)
  const { total, succeeded, refused } = run
  const totals = { pending: total - succeeded - refused, succeeded, refused }
  return ok(pageOf(rows.map(presentRow), state ? totals[state] : total, range))
}

export const presentRun = (run: typeof bulkRuns.$inferSelect): BulkRun => ({
  id: run.id,
  action: run.action,
  state: run.state,
  total: run.total,
  done: run.succeeded + run.refused,
  succeeded: run.succeeded,
  refused: run.refused,
  username: run.actorName,
  created_at: iso(run.createdAt),
  ended_at: isoOrNull(run.endedAt),
  ...whyOf(run)
})

const presentRow = (row: typeof bulkRows.$inferSelect): BulkRow => ({
  id: row.rowId,
  label: row.label,
  state: row.state,
  ...whyOf(row)
})

type Why = Pick<typeof bulkRuns.$inferSelect, 'reason' | 'params'> & { msg?: string | null }

const whyOf = ({ reason, params, msg }: Why) => ({
  reason,
  params: params ?? {},
  msg: reason ? (msg ?? sentenceOf({ ok: false, reason, params: params ?? {} })) : null
})
