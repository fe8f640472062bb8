import type { AuditEntry } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { auditLog } from '../../infra/tables.ts'

// Letter for letter what the trigram index is made of, or the database would read every row.
const searched = sql`(${auditLog.actorName} || ' ' || ${auditLog.action} || ' ' || ${auditLog.targetType} || ' ' || ${auditLog.targetId})`

/** What was changed. 'user 42' finds what was done to that user; other text is looked for in who, what and on what. */
export const entryList = defineList<ListInput<'id'>, AuditEntry>({
  name: 'audit_log',
  table: auditLog,
  id: auditLog.id,
  sort: { id: auditLog.id },
  match(_db, { search }) {
    const [, type, id] = /^([a-z_]+) (\d+)$/.exec(search ?? '') ?? []
    if (type && id)
      return { where: [eq(auditLog.targetType, type)], anyOf: [{ column: auditLog.targetId, among: [id] }] }
    return { text: search ? { in: searched, term: search } : undefined }
  },
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
