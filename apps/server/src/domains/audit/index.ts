import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { entryList } from './list-entries.ts'

export { record } from './record.ts'

/** Puts the domain's calls on the server. */
export function auditRoutes(mount: Mount, ctx: Pick<AppContext, 'db' | 'now'>): void {
  mountList(mount, ctx, routes.settings.audit, () => entryList)
}
