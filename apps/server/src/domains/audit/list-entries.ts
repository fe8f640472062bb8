import type { AuditEntry, settings } from '@netlet/contract'
import { desc, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { rowCounter } from '../../infra/db/row-counter.ts'
import { containing, pageOf } from '../../infra/http/paging.ts'
import { auditLog } from '../../infra/tables.ts'

const countEntries = rowCounter(auditLog, auditLog.id)

// Exactly the expression of the trigram index, or the database would read every row.
const searched = sql`(${auditLog.actorName} || ' ' || ${auditLog.action} || ' ' || ${auditLog.targetType} || ' ' || ${auditLog.targetId})`

/** What was changed, newest first. `search` is looked for in who, what and on what: 'boss', 'user.ban', 'user 42'. */
export async function listEntries(db: Executor, query: z.output<typeof settings.audit.query & object>) {
  const where = query.search ? sql`${searched} ilike ${containing(query.search)}` : undefined
  const [rows, total] = await Promise.all([
    db.select().from(auditLog).where(where).orderBy(desc(auditLog.id)).limit(query.limit).offset(query.offset),
    where ? db.$count(auditLog, where) : countEntries(db)
  ])
  return pageOf(rows.map(present), total, query)
}

const present = (row: typeof auditLog.$inferSelect): AuditEntry => ({
  id: row.id,
  at: iso(row.at),
  actor: row.actorName,
  action: row.action,
  target_type: row.targetType,
  target_id: row.targetId,
  before: row.before,
  after: row.after,
  ip: row.ip
})
