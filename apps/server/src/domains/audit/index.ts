/**
 * Shows the audit log to administrators. The table is infra's, and commands write it: nobody changes or removes a row.
 * Others need nothing from here but the routes.
 */
import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { entryList } from './list-entries.ts'

/** Puts the domain's calls on the server. */
export function auditRoutes(mount: Mount, ctx: Pick<AppContext, 'db' | 'now'>): void {
  mountList(mount, ctx, routes.settings.audit, () => entryList)
}
