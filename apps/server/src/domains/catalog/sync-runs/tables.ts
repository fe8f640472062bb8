import { SYNC_KINDS, SYNC_STATES, SYNC_STEPS, type Params, type Reason, type SyncPlan } from '@netlet/contract'
import { isNull, sql } from '../../../infra/db/drizzle.ts'
import { check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, inet, instant, oneOf, ref } from '../../../infra/db/columns.ts'
import type { SyncCounts } from '../plan-sync.ts'
import type { PlatformSource } from '../read-source.ts'

/** Syncs that an administrator asked for, with the platform's data until they are applied. */
export const syncRuns = pgTable(
  'catalog_sync_runs',
  {
    id: id(),
    what: text({ enum: SYNC_KINDS }).notNull(),
    /** See states.ts. */
    state: text({ enum: SYNC_STATES }).notNull().default('reading'),
    step: text({ enum: SYNC_STEPS }).notNull().default('waiting'),
    done: integer().notNull().default(0),
    total: integer(),
    /** Who asked for it, as in the audit log. The account may have been deleted. */
    actorId: ref().notNull(),
    actorName: text().notNull(),
    actorIp: inet().notNull(),
    /** The platform's data, the plan and its version. Set from the end of the reading to the end of the sync. */
    source: jsonb().$type<PlatformSource>(),
    plan: jsonb().$type<SyncPlan>(),
    version: text(),
    counts: jsonb().$type<SyncCounts>(),
    /** Why it failed. */
    reason: text().$type<Reason>(),
    params: jsonb().$type<Params>(),
    createdAt: createdAt(),
    readyAt: instant(),
    endedAt: instant()
  },
  t => [
    // One sync of each kind at a time: a second request gets the running one.
    uniqueIndex('catalog_sync_runs_unended').on(t.what).where(isNull(t.endedAt)),
    index('catalog_sync_runs_created').on(t.createdAt),
    check('catalog_sync_runs_what', oneOf(t.what, SYNC_KINDS)),
    check('catalog_sync_runs_state', oneOf(t.state, SYNC_STATES)),
    check('catalog_sync_runs_step', oneOf(t.step, SYNC_STEPS)),
    check('catalog_sync_runs_ended', sql`(${t.endedAt} is null) = (${t.state} in ('reading', 'ready', 'applying'))`),
    check(
      'catalog_sync_runs_source',
      sql`num_nonnulls(${t.source}, ${t.plan}, ${t.version}) = case when ${t.state} in ('ready', 'applying') then 3 else 0 end`
    )
  ]
)
