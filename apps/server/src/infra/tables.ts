import { sql } from 'drizzle-orm'
import { bigint, index, jsonb, pgSequence, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, id, inet, instant, ref } from './db/columns.ts'

/** Who changed what, and when. Rows are only ever added, by commands (command.ts). */
export const auditLog = pgTable(
  'audit_log',
  {
    id: id(),
    at: createdAt(),
    /** Null: the system itself, or a visitor. */
    actorId: ref(),
    actorName: text().notNull(),
    /** Whom the actor viewed the shop as, if anyone. */
    viewedAs: text(),
    /** The target's type and a verb: 'order.extend'. */
    action: text().notNull(),
    targetType: text().notNull(),
    targetId: text().notNull(),
    before: jsonb().$type<unknown>(),
    after: jsonb().$type<unknown>(),
    ip: inet()
  },
  t => [
    index('audit_log_at').on(t.at),
    index('audit_log_target').on(t.targetType, t.targetId, t.id.desc()),
    index('audit_log_search').using(
      'gin',
      sql`(${t.actorName} || ' ' || ${t.action} || ' ' || ${t.targetType} || ' ' || ${t.targetId}) gin_trgm_ops`
    )
  ]
)

/** What retention last found in a table of its list, and removed from it; see infra/retention.ts. */
export const retentionFigures = pgTable('retention_figures', {
  what: text().primaryKey(),
  rows: bigint({ mode: 'number' }).notNull(),
  oldest: instant(),
  /** How many rows the last removal took, and when that was; null where nothing was removed yet. */
  removed: bigint({ mode: 'number' }).notNull().default(0),
  removedAt: instant(),
  countedAt: instant().notNull()
})

/** Numbers the events of the change feed, so that a browser can resume after any of them. */
export const changeEventId = pgSequence('change_event_id')
