import type { AuditEntry } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { auditLog } from '../../infra/tables.ts'

// Letter for letter what the trigram index is made of, or the database would read every row.
const searched = sql`(${auditLog.actorName} || ' ' || ${auditLog.action} || ' ' || ${auditLog.targetType} || ' ' || ${auditLog.targetId})`

/** What was changed. `search` is looked for in who, what and on what: 'boss', 'user.ban', 'user 42'. */
export const entryList = defineList<ListInput<'id'>, AuditEntry>({
  name: 'audit_log',
  table: auditLog,
  id: auditLog.id,
  sort: { id: auditLog.id },
  match: (_db, { search }) => ({ text: search ? { in: searched, term: search } : undefined }),
  load: async (db, ids) => (await db.select().from(auditLog).where(among(auditLog.id, ids))).map(present)
})

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
