import { refuse, routes } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { done, type Result } from '../../infra/result.ts'
import type { BulkActions } from './actions.ts'
import { findRun, listRows, runList } from './list-runs.ts'
import { startRun } from './start-run.ts'
import { transition } from './states.ts'

/** Puts the domain's calls on the server. */
export function bulkRoutes(mount: Mount, ctx: AppContext, actions: BulkActions): void {
  const { bulk } = routes
  mount(bulk.start, ({ body, caller }) => startRun(ctx, caller, actions, body))
  mountList(mount, ctx, bulk.runs, () => runList)
  mount(bulk.run, ({ params }) => findRun(ctx.db, params.id))
  mount(bulk.rows, ({ params, query }) => listRows(ctx.db, params.id, query))
  mount(bulk.cancel, ({ params, caller }) => cancelRun(ctx, caller, params.id))
}

/** Stops a run before its next row. Repeating it changes nothing. */
function cancelRun(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    if (await transition(unit, id, 'cancel')) {
      unit.audit('bulk_run.cancel', id)
      return done
    }
    const run = await findRun(unit.tx, id)
    if (!run.ok) return run
    return run.data.state === 'cancelled' ? done : refuse('bulk_ended')
  })
}
