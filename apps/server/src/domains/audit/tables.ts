import { sql } from 'drizzle-orm'
import { index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, id, inet, ref } from '../../infra/db/columns.ts'

/** Who changed what, and when. Rows are only ever added. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: id(),
    at: createdAt(),
    /** Null: the system itself. */
    actorId: ref(),
    actorName: text().notNull(),
    action: text().notNull(),
    targetType: text().notNull(),
    targetId: text().notNull(),
    before: jsonb().$type<unknown>(),
    after: jsonb().$type<unknown>(),
    ip: inet()
  },
  t => [
    index('audit_log_target').on(t.targetType, t.targetId, t.id.desc()),
    index('audit_log_search').using(
      'gin',
      sql`(${t.actorName} || ' ' || ${t.action} || ' ' || ${t.targetType} || ' ' || ${t.targetId}) gin_trgm_ops`
    )
  ]
)
