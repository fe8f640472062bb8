import { queue } from '../../infra/jobs.ts'
import {
  type BulkAction,
  type BulkPlan,
  type BulkRun,
  type BulkSelection,
  type CustomerNote,
  MAX_BULK_ROWS,
  type Refusal,
  refuse,
  RUN_PERMISSIONS,
  type RunAction
} from '@netlet/contract'
import { and, eq, inArray, sql } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import { mayDo, type UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { type Database, readOrTimeOut, type Transaction } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { ok, type Result } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import type { BulkActions, BulkWork, RunInput } from './actions.ts'
import { presentRun } from './list-runs.ts'
import { bulkRows, bulkRuns } from './tables.ts'

export const bulkRunQueue = queue<{ runId: number }>('run-bulk-action')
export const bulkResumeQueue = queue<object>('resume-bulk-runs')

export const bulkQueues = [bulkRunQueue, bulkResumeQueue]

/** How long the outcomes of a confirmation may take, in milliseconds. */
const PLAN_MS = 5_000

/**
 * What a run of these rows would do, for the confirmation. It reads only, with one query for any number of rows.
 * @param options.planMs after this time the confirmation comes without outcomes
 */
export async function planRun(
  ctx: AppContext,
  by: UserActor,
  actions: BulkActions,
  order: { action: BulkAction; selection: Selection },
  { planMs = PLAN_MS }: { planMs?: number } = {}
): Promise<Result<BulkPlan>> {
  const chosen = await choose(ctx, by, actions, order)
  if (!chosen.ok) return chosen
  const work = actions[order.action]
  const asked = { by, now: ctx.now() }
  const outcomes = await readOrTimeOut(ctx.db, planMs, async tx => (await work.plan?.(tx, chosen.data, asked)) ?? null)
  return ok({ rows: chosen.data.length, version: rowsVersion(chosen.data), outcomes })
}

export type Selection = z.output<typeof BulkSelection>

/** Rows in one statement. */
const BATCH = 10_000

/**
 * Stores a run with all its rows and enqueues it, so that it works on the rows of the request even if the list changes.
 * A repeat before its end returns the same run.
 */
export async function startRun(
  ctx: AppContext,
  by: UserActor,
  actions: BulkActions,
  order: { action: BulkAction; selection: Selection } & Partial<CustomerNote>
): Promise<Result<BulkRun>> {
  const { action, selection } = order
  const chosen = await choose(ctx, by, actions, order)
  if (!chosen.ok) return chosen
  const ids = chosen.data
  const other = 'query' in selection ? refuseOther(action, ids, selection) : null
  if (other) return other
  const query = 'query' in selection ? { query: selection.query } : {}
  const { labels } = actions[action]
  return command(ctx, by, async unit =>
    ok(await startRunIn(unit, by, { action, ids, labels, input: noteInput(order), ...query }))
  )
}

/** The ids of the selected rows if the caller's role may do this, regardless of the expected number. */
async function choose(
  ctx: AppContext,
  by: UserActor,
  actions: BulkActions,
  { action, selection }: { action: BulkAction; selection: Selection }
): Promise<Result<number[]>> {
  if (!mayDo(by, RUN_PERMISSIONS[action])) return refuse('role_not_allowed')
  const refused = 'query' in selection ? await actions[action].open?.(ctx, by, selection.query) : null
  if (refused) return refused
  return idsOf(ctx.db, actions[action], selection, ctx.now())
}

/** What a run tells the customers of its rows. By default it emails them without a message. */
export const noteInput = ({ email_customer, message }: Partial<CustomerNote> = {}): RunInput => ({
  ...(email_customer === false ? { email_customer } : {}),
  ...(message ? { message } : {})
})

type RunOrder = Pick<BulkWork, 'labels'> & {
  action: RunAction
  ids: number[]
  input?: RunInput
  /** The query that selected the rows, for the audit log. */
  query?: Readonly<Record<string, string>>
}

/** Starts a run of these rows as a part of a larger write, or returns an unfinished run of the same rows. */
export async function startRunIn(
  unit: Unit,
  by: UserActor,
  { action, ids, labels, input = {}, query }: RunOrder
): Promise<BulkRun> {
  await lock(unit.tx, 'bulkRuns', by.id)
  const same = await findUnended(unit.tx, { actorId: by.id, action, ids, input })
  if (same) return presentRun(same)
  const [run] = await unit.tx
    .insert(bulkRuns)
    .values({
      action,
      input,
      total: ids.length,
      actorId: by.id,
      actorName: by.username,
      actorIp: by.ip,
      createdAt: unit.now
    })
    .returning()
  if (!run) throw new Error('the bulk run was not added')
  for (let at = 0; at < ids.length; at += BATCH) await insertRows(unit.tx, run.id, ids.slice(at, at + BATCH), labels)
  const after = {
    action,
    rows: ids.length,
    ...(query ? { query } : {}),
    ...(Object.keys(input).length > 0 ? { input } : {})
  }
  unit.audit('bulk_run.start', run.id, { after })
  unit.jobs.send(bulkRunQueue, { runId: run.id }, { key: String(run.id) })
  return presentRun(run)
}

/** The unfinished run of the same person, action and rows. */
async function findUnended(
  tx: Transaction,
  { actorId, action, ids, input }: { actorId: number; action: RunAction; ids: number[]; input: RunInput }
) {
  const [run] = await tx
    .select()
    .from(bulkRuns)
    .where(
      and(
        eq(bulkRuns.actorId, actorId),
        eq(bulkRuns.action, action),
        inArray(bulkRuns.state, ['queued', 'running']),
        eq(bulkRuns.total, ids.length),
        sql`${bulkRuns.input} = ${JSON.stringify(input)}::jsonb`,
        sql`not exists (select 1 from unnest(${sql.param(ids)}::bigint[]) as asked(id)
          where not exists (select 1 from ${bulkRows} where run_id = ${bulkRuns.id} and row_id = asked.id))`
      )
    )
    .limit(1)
  return run
}

async function idsOf(db: Database, work: BulkWork, selection: Selection, now: Date): Promise<Result<number[]>> {
  if ('ids' in selection) return ok([...new Set(selection.ids)])
  const matching = await work.ids(db, selection.query, MAX_BULK_ROWS + 1, now)
  if (!matching.ok) return matching
  const count = matching.data.length
  if (count === 0) return refuse('bulk_none_match')
  if (count > MAX_BULK_ROWS) return refuse('bulk_too_many', { params: { max: MAX_BULK_ROWS } })
  return matching
}

/** Whether some rows more than confirmed do no harm, because nothing changes for their customers. */
const HARMLESS: Readonly<Record<BulkAction, boolean>> = {
  'order.change': false,
  'order.reset': false,
  'order.check': true,
  'order.deliver': false,
  'order.delete': false,
  'gift_card.delete': false,
  'coupon.check': true,
  'coupon.create_there': false,
  'gift_card.check': true,
  'gift_card.create_there': false,
  'level_code.check': true,
  'level_code.create_there': false
}

/** Two sets of rows are the same if their versions are equal, in any order. */
const rowsVersion = (ids: readonly number[]): string => versionOf({ ids: ids.toSorted((a, b) => a - b) })

/**
 * Refuses rows that differ from the confirmed ones. Lists change while people read them, so harmless actions may have a
 * few more rows. Others may not have one more, nor, given the plan's version, a different one.
 */
function refuseOther(
  action: BulkAction,
  ids: readonly number[],
  { expected, version }: { expected?: number | undefined; version?: string | undefined }
): Refusal | null {
  const count = ids.length
  const others = !HARMLESS[action] && version !== undefined && rowsVersion(ids) !== version
  const allowance = HARMLESS[action] ? Math.max(10, (expected ?? 0) / 10) : 0
  const more = expected !== undefined && count > expected + allowance
  return others || more ? refuse('bulk_other_match', { params: { count } }) : null
}

async function insertRows(tx: Transaction, runId: number, ids: number[], labels: BulkWork['labels']): Promise<void> {
  const found = await labels(tx, ids)
  const texts = ids.map(id => found.get(id) ?? `#${id}`)
  await tx.execute(sql`
    insert into ${bulkRows} (run_id, row_id, label)
    select ${runId}, * from unnest(${sql.param(ids)}::bigint[], ${sql.param(texts)}::text[])`)
}
