/**
 * Shows the audit log to administrators. Infra owns the table and commands write it. Rows never change; only retention
 * removes them after years.
 */
import { refuse, routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { removeAuditEntries } from '../../infra/forget-in-audit-log.ts'
import { countRows, type RetentionEntry } from '../../infra/retention.ts'
import { auditLog } from '../../infra/tables.ts'
import { entryList, type OrderNumbers } from './list-entries.ts'

export function auditRoutes(mount: Mount, ctx: AppContext, names: OrderNumbers): void {
  const list = entryList(names)
  mountList(mount, ctx, routes.settings.audit, () => list)
  mount(routes.settings.auditEntry, async ({ params }) => {
    const [entry] = await list.load(ctx.db, [params.id])
    return entry ? ok(entry) : refuse('not_found')
  })
}

export const auditRetention: RetentionEntry[] = [
  {
    what: 'audit_log',
    keep: { setting: 'keep_audit_days' },
    why: 'Who changed what. Keep it for as long as questions or disputes can arise.',
    remove: removeAuditEntries,
    count: db => countRows(db, auditLog, auditLog.at)
  }
]
