import { mayOperate, refuse, RUN_PERMISSIONS, type OperatorRole, type Refusal } from '@netlet/contract'
import { and, asc, eq, gt, notExists, sql } from '../../infra/db/drizzle.ts'
import { actorOf, SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { isTemporaryFailure, type Database } from '../../infra/db/client.ts'
import { users } from '../accounts/tables.ts'
import type { BulkActions, BulkWork } from './actions.ts'
import { transition } from './states.ts'
import { bulkRows, bulkRuns } from './tables.ts'

/** Ids in one query. */
const BATCH = 100
/** The job gives way after this time, so that it never expires and other runs get their turn (milliseconds). */
const SLICE_MS = 20_000
/** After this many temporary failures in a row the rows are not at fault, and the job is retried later. */
const MOST_FAILURES = 5
/** The least time between two notifications of the progress (milliseconds). */
const PROGRESS_MS = 300

type Run = Pick<typeof bulkRuns.$inferSelect, 'id' | 'action' | 'input' | 'actorId' | 'actorName' | 'actorIp'> & {
  role: OperatorRole | null
}
type Outcome = 'done' | 'taken' | 'stopped' | 'not_allowed'

/**
 * Works on a run's rows. Each row is one command with its work and its result, so a crash leaves it either done or
 * pending. Several workers may share a run. Rows that fail temporarily are left for the next call.
 * @returns whether rows may be left: then call it again
 * @throws the first temporary failure, if rows were left because of one
 */
export async function workOnRun(
  ctx: AppContext,
  actions: BulkActions,
  runId: number,
  { sliceMs = SLICE_MS }: { sliceMs?: number } = {}
): Promise<boolean> {
  const run = await claimRun(ctx, runId)
  if (!run) return false
  const worker = createRowWorker(ctx, run, actions[run.action])
  const until = performance.now() + sliceMs
  let last = 0
  const failures: unknown[] = []
  let inARow = 0
  for (;;) {
    const batch = await pendingAfter(ctx.db, runId, last)
    for (const rowId of batch) {
      const outcome = await worker(rowId).catch((error: unknown) => {
        failures.push(error)
        if (++inARow >= MOST_FAILURES) throw failures[0]
        return 'failed' as const
      })
      if (outcome !== 'failed') inARow = 0
      if (outcome === 'stopped') return false
      if (outcome === 'not_allowed') {
        const why = { reason: 'bulk_not_allowed', params: { username: run.actorName } } as const
        await command(ctx, SYSTEM, unit => transition(unit, runId, 'fail', why))
        return false
      }
      if (performance.now() > until) return true
      last = rowId
    }
    if (batch.length === 0) break
  }
  if (failures.length > 0) throw failures[0]
  await finishRun(ctx, runId)
  return false
}

async function claimRun(ctx: AppContext, runId: number): Promise<Run | null> {
  return command(ctx, SYSTEM, async unit => {
    await transition(unit, runId, 'start')
    const [found] = await unit.tx
      .select({ run: bulkRuns, role: users.operatorRole })
      .from(bulkRuns)
      .leftJoin(users, eq(users.id, bulkRuns.actorId))
      .where(and(eq(bulkRuns.id, runId), eq(bulkRuns.state, 'running')))
    return found ? { ...found.run, role: found.role } : null
  })
}

/** Ends a run without pending rows. If another worker still has a row, that one ends the run. */
async function finishRun(ctx: AppContext, runId: number): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    const pending = unit.tx
      .select({ one: sql`1` })
      .from(bulkRows)
      .where(and(eq(bulkRows.runId, runId), eq(bulkRows.state, 'pending')))
    const [finished] = await unit.tx
      .select({ id: bulkRuns.id })
      .from(bulkRuns)
      .where(and(eq(bulkRuns.id, runId), notExists(pending)))
    if (finished) await transition(unit, runId, 'finish')
  })
}

async function pendingAfter(db: Database, runId: number, last: number): Promise<number[]> {
  const rows = await db
    .select({ id: bulkRows.rowId })
    .from(bulkRows)
    .where(and(eq(bulkRows.runId, runId), eq(bulkRows.state, 'pending'), gt(bulkRows.rowId, last)))
    .orderBy(asc(bulkRows.rowId))
    .limit(BATCH)
  return rows.map(({ id }) => id)
}

function createRowWorker(ctx: AppContext, run: Run, work: BulkWork): (rowId: number) => Promise<Outcome> {
  const [by, runId] = [actorOf(run, run.role), run.id]
  let publishedAt = 0
  /** Runs a row's command, which publishes the progress when due. */
  async function commandOfRow<T>(run: (unit: Unit, publish: () => void) => Promise<T>): Promise<T> {
    const isDue = performance.now() - publishedAt > PROGRESS_MS
    const result = await command(ctx, by, unit => run(unit, () => isDue && unit.publish('bulk_run', runId)))
    if (isDue) publishedAt = performance.now()
    return result
  }

  /** Claims the row, does the work and writes the result, all or nothing. */
  async function attempt(rowId: number): Promise<Outcome | Refusal> {
    return commandOfRow<Outcome | Refusal>(async (unit, publish) => {
      const [current] = await unit.tx
        .select({
          state: bulkRuns.state,
          isAdmin: sql<boolean | null>`${users.isActive} and ${users.isSuperuser}`,
          role: users.operatorRole
        })
        .from(bulkRuns)
        .leftJoin(users, eq(users.id, bulkRuns.actorId))
        .where(eq(bulkRuns.id, runId))
      if (current?.state !== 'running') return 'stopped'
      if (!current.isAdmin || !mayOperate(current.role, RUN_PERMISSIONS[run.action])) return 'not_allowed'
      const [claimed] = await unit.tx
        .select({ id: bulkRows.rowId })
        .from(bulkRows)
        .where(isPending(runId, rowId))
        .for('update', { skipLocked: true })
      if (!claimed) return 'taken'
      const result = await work.run(unit, rowId, run)
      if (!result.ok) return result
      await unit.tx.update(bulkRows).set({ state: 'succeeded' }).where(isPending(runId, rowId))
      // Last, because every worker of the run waits for it.
      await unit.tx
        .update(bulkRuns)
        .set({ succeeded: sql`${bulkRuns.succeeded} + 1` })
        .where(eq(bulkRuns.id, runId))
      publish()
      return 'done'
    })
  }

  /** A command of its own, because the refused one was rolled back. */
  async function writeRefusal(rowId: number, { reason, params, msg }: Refusal): Promise<void> {
    await commandOfRow(async (unit, publish) => {
      const written = await unit.tx
        .update(bulkRows)
        .set({ state: 'refused', reason, params: params ?? null, msg: msg ?? null })
        .where(isPending(runId, rowId))
        .returning({ id: bulkRows.rowId })
      if (written.length === 0) return
      await unit.tx
        .update(bulkRuns)
        .set({ refused: sql`${bulkRuns.refused} + 1` })
        .where(eq(bulkRuns.id, runId))
      publish()
    })
  }

  return async rowId => {
    try {
      const outcome = await attempt(rowId)
      if (typeof outcome === 'string') return outcome
      await writeRefusal(rowId, outcome)
    } catch (error) {
      // The row stays pending.
      if (isTemporaryFailure(error)) throw error
      // A bug in one row must not stop the others.
      ctx.log.error({ err: error, run: runId, row: rowId }, 'a row of a bulk run failed')
      await writeRefusal(rowId, refuse('internal'))
    }
    return 'done'
  }
}

const isPending = (runId: number, rowId: number) =>
  and(eq(bulkRows.runId, runId), eq(bulkRows.rowId, rowId), eq(bulkRows.state, 'pending'))
