import {
  type BulkRow,
  type BulkRun,
  type Page,
  RUN_PERMISSIONS,
  type RunAction,
  refuse,
  sentenceOf
} from '@netlet/contract'
import { type UserActor, mayDo } from '../../infra/actor.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, ok } from '../../infra/result.ts'
import type { RunInput } from './actions.ts'
import { bulkRows, bulkRuns } from './tables.ts'

type Range = { limit: number; offset: number }

export const runList = defineList<ListInput<'id'>, BulkRun>({
  name: 'bulk_runs',
  table: bulkRuns,
  id: bulkRuns.id,
  sort: { id: bulkRuns.id },
  load: async (db, ids) => (await db.select().from(bulkRuns).where(among(bulkRuns.id, ids))).map(presentRun)
})

export async function findRun(db: Executor, id: number): Promise<Result<BulkRun>> {
  const [run] = await db.select().from(bulkRuns).where(eq(bulkRuns.id, id))
  return run ? ok(presentRun(run)) : refuse('not_found')
}

/**
 * A page of a run's rows, for those who may run it, because names such as codes may be worth money. The run has their
 * number, so nothing is counted.
 */
export async function listRows(
  db: Executor,
  by: Pick<UserActor, 'role'>,
  runId: number,
  { state, ...range }: Range & { state?: BulkRow['state'] | undefined }
): Promise<Result<Page<BulkRow>>> {
  const [run] = await db.select().from(bulkRuns).where(eq(bulkRuns.id, runId))
  if (!run) return refuse('not_found')
  if (!mayDo(by, RUN_PERMISSIONS[run.action])) return refuse('role_not_allowed')
  const rows = await db
    .select()
    .from(bulkRows)
    .where(and(eq(bulkRows.runId, runId), state ? eq(bulkRows.state, state) : undefined))
    .orderBy(asc(bulkRows.rowId))
    .limit(range.limit)
    .offset(range.offset)
  const { total, succeeded, refused } = run
  const totals = { pending: total - succeeded - refused, succeeded, refused }
  return ok({
    data: rows.map(presentRow),
    total: state ? totals[state] : total,
    total_exact: true,
    ...range,
    next: null
  })
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
  ...reasonFields(run)
})

const presentRow = (row: typeof bulkRows.$inferSelect): BulkRow => ({
  id: row.rowId,
  label: row.label,
  state: row.state,
  ...reasonFields(row)
})

type Why = Pick<typeof bulkRuns.$inferSelect, 'reason' | 'params'> & { msg?: string | null }

const reasonFields = ({ reason, params, msg }: Why) => ({
  reason,
  params: params ?? {},
  msg: reason ? (msg ?? sentenceOf({ ok: false, reason, params: params ?? {} })) : null
})

/** Removes an administrator's name and address from the runs that the administrator started. */
export async function forgetActor({ tx }: Unit, userId: number, replacement: string): Promise<void> {
  await tx.update(bulkRuns).set({ actorName: replacement, actorIp: '0.0.0.0' }).where(eq(bulkRuns.actorId, userId))
}

/** @returns the id of any unfinished run of this action whose input contains this; undefined if there is none */
export async function unendedRun(
  db: Executor,
  { action, input }: { action: RunAction; input: RunInput }
): Promise<number | undefined> {
  const same = and(eq(bulkRuns.action, action), sql`${bulkRuns.input} @> ${JSON.stringify(input)}::jsonb`)
  const [run] = await db
    .select({ id: bulkRuns.id })
    .from(bulkRuns)
    .where(and(isNull(bulkRuns.endedAt), same))
    .limit(1)
  return run?.id
}
