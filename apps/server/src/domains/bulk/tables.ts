import type { BulkRow, BulkRun, Params, Reason, RunAction } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { check, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { createdAt, id, inet, instant, ref } from '../../infra/db/columns.ts'
import type { RunInput } from './actions.ts'

/** One action on many rows, by an administrator. */
export const bulkRuns = pgTable(
  'bulk_runs',
  {
    id: id(),
    action: text().$type<RunAction>().notNull(),
    /** See states.ts. */
    state: text().$type<BulkRun['state']>().notNull().default('queued'),
    /** The action's parameters beside the rows: the server to leave, the outage to credit, words to customers. */
    input: jsonb().$type<RunInput>().notNull().default({}),
    total: integer().notNull(),
    succeeded: integer().notNull().default(0),
    refused: integer().notNull().default(0),
    /** Who asked for it, as in the audit log. The account may have been deleted. */
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

/** A row of a run, and its result. */
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
    /** The refusal's own sentence, if it has one. */
    msg: text()
  },
  t => [
    primaryKey({ columns: [t.runId, t.rowId] }),
    index('bulk_rows_state').on(t.runId, t.state, t.rowId),
    check('bulk_rows_state', sql`${t.state} in ('pending', 'succeeded', 'refused')`),
    check('bulk_rows_reason', sql`(${t.reason} is not null) = (${t.state} = 'refused')`)
  ]
)
