import { sql, type SQL } from './db/drizzle.ts'
import { index, jsonb, pgSequence, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, id, inet, lower, ref } from './db/columns.ts'

/** The verb of an action: 'extend' of 'order.extend'. */
export const verbOf = (action: unknown): SQL => sql`split_part(${action}, '.', 2)`

/** Who changed what, and when. Commands add the rows (command.ts), and only retention removes them. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: id(),
    at: createdAt(),
    /** Null for the system and visitors. */
    actorId: ref(),
    actorName: text().notNull(),
    /** The user whom the actor viewed the shop as. */
    viewedAs: text(),
    /** The name of the API key or token that the actor used. */
    via: text(),
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
    index('audit_log_actor').on(lower(t.actorName), t.id),
    index('audit_log_verb').on(verbOf(t.action), t.id),
    index('audit_log_type').on(t.targetType, t.id),
    index('audit_log_target').on(t.targetType, t.targetId, t.id.desc()),
    index('audit_log_search').using(
      'gin',
      sql`(${t.actorName} || ' ' || ${t.action} || ' ' || ${t.targetType} || ' ' || ${t.targetId}) gin_trgm_ops`
    )
  ]
)

/** Numbers the events of the change feed, so that a browser can resume after any of them. */
export const changeEventId = pgSequence('change_event_id')
