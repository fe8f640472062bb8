import type { BulkRow, BulkRun, Params, Reason, RunAction } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { createdAt, id, inet, instant, ref } from '../../infra/db/columns.ts'

/** One thing that is done to many rows, by the administrator who asked for it. */
export const bulkRuns = pgTable(
  'bulk_runs',
  {
    id: id(),
    action: text().$type<RunAction>().notNull(),
    /** See states.ts: the one table of states and transitions. */
    state: text().$type<BulkRun['state']>().notNull().default('queued'),
    /** What the action needs to know beside the rows: the server to leave, the outage to credit. */
    input: jsonb().$type<Record<string, number>>().notNull().default({}),
    total: integer().notNull(),
    succeeded: integer().notNull().default(0),
    refused: integer().notNull().default(0),
    /** Who asked, as the audit log names them; the account may be gone by now. */
    actorId: ref().notNull(),
    actorName: text().notNull(),
    actorIp: inet().notNull(),
    /** Why it failed. */
    reason: text().$type<Reason>(),
    params: jsonb().$type<Params>(),
    createdAt: createdAt(),
    endedAt: instant()
  },
  t => [
    index('bulk_runs_ended').on(t.endedAt),
    index('bulk_runs_unfinished')
      .on(t.id)
      .where(sql`${t.endedAt} is null`),
    check('bulk_runs_state', sql`${t.state} in ('queued', 'running', 'done', 'cancelled', 'failed')`),
    check('bulk_runs_ended', sql`(${t.endedAt} is null) = (${t.state} in ('queued', 'running'))`),
    check('bulk_runs_counts', sql`${t.succeeded} + ${t.refused} <= ${t.total}`)
  ]
)

/** A row of a run, and what became of it. */
export const bulkRows = pgTable(
  'bulk_rows',
  {
    runId: ref()
      .notNull()
      .references(() => bulkRuns.id, { onDelete: 'cascade' }),
    /** The id of the order, the gift card… */
    rowId: ref().notNull(),
    label: text().notNull(),
    state: text().$type<BulkRow['state']>().notNull().default('pending'),
    reason: text().$type<Reason>(),
    params: jsonb().$type<Params>(),
    /** The sentence, where the refusal had one of its own. */
    msg: text()
  },
  t => [
    primaryKey({ columns: [t.runId, t.rowId] }),
    index('bulk_rows_state').on(t.runId, t.state, t.rowId),
    check('bulk_rows_state', sql`${t.state} in ('pending', 'succeeded', 'refused')`),
    check('bulk_rows_reason', sql`(${t.reason} is not null) = (${t.state} = 'refused')`)
  ]
)
