import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import type { RetentionEntry } from '../../infra/retention.ts'
import { retentionOverview } from './figures.ts'

export function retentionRoutes(mount: Mount, ctx: AppContext, entries: readonly RetentionEntry[]): void {
  mount(routes.settings.retention, async () => ok(await retentionOverview(ctx, entries)))
}
