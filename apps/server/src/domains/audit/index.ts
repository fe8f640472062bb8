import { routes } from '@netlet/contract'
import type { Mount } from '../../platform/http/mount.ts'
import { ok } from '../../platform/result.ts'
import type { Shop } from '../../platform/shop.ts'
import { listEntries } from './list-entries.ts'

export { record, type AuditEntry } from './record.ts'

/** Puts the domain's calls on the server. */
export function auditRoutes(mount: Mount, shop: Pick<Shop, 'db'>): void {
  mount(routes.settings.audit, async ({ query }) => ok(await listEntries(shop.db, query)))
}
