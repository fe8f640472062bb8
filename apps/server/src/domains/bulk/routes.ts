import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { BulkActions } from './actions.ts'
import { findRun, listRows, runList } from './list-runs.ts'
import { planRun, startRun } from './start-run.ts'
import { cancelRun } from './states.ts'

export function bulkRoutes(mount: Mount, ctx: AppContext, actions: BulkActions): void {
  const { bulk } = routes
  mount(bulk.start, ({ body, caller }) => startRun(ctx, caller, actions, body))
  mount(bulk.plan, ({ body, caller }) => planRun(ctx, caller, actions, body))
  mountList(mount, ctx, bulk.runs, () => runList)
  mount(bulk.run, ({ params }) => findRun(ctx.db, params.id))
  mount(bulk.rows, ({ params, query, caller }) => listRows(ctx.db, caller, params.id, query))
  mount(bulk.cancel, ({ params, caller }) => cancelRun(ctx, caller, params.id))
}
