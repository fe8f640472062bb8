import { mayOperate, refuse, RUN_PERMISSIONS } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { findRun } from './list-runs.ts'
import { transition } from './states.ts'

/** Stops a run before its next row. A repeat changes nothing. */
export function cancelRun(ctx: AppContext, by: UserActor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const found = await findRun(unit.tx, id)
    if (!found.ok) return found
    if (!mayOperate(by.role, RUN_PERMISSIONS[found.data.action])) return refuse('role_not_allowed')
    if (await transition(unit, id, 'cancel')) {
      unit.audit('bulk_run.cancel', id)
      return done
    }
    const run = await findRun(unit.tx, id)
    if (!run.ok) return run
    return run.data.state === 'cancelled' ? done : refuse('already_over')
  })
}
