import type { BulkAction, BulkPlan } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import { readOrTimeOut } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { BulkActions } from './actions.ts'
import { choose, rowsVersion, type Selection } from './start-run.ts'

/** How long the outcomes of a confirmation may take, in milliseconds. */
const PLAN_MS = 5_000

/**
 * What a run of these rows would do, for the confirmation. It reads only, with one query for any number of rows.
 * @param options.planMs after this time the confirmation comes without outcomes
 */
export async function planRun(
  ctx: AppContext,
  by: UserActor,
  actions: BulkActions,
  order: { action: BulkAction; selection: Selection },
  { planMs = PLAN_MS }: { planMs?: number } = {}
): Promise<Result<BulkPlan>> {
  const chosen = await choose(ctx, by, actions, order)
  if (!chosen.ok) return chosen
  const work = actions[order.action]
  const asked = { by, now: ctx.now() }
  const outcomes = await readOrTimeOut(ctx.db, planMs, async tx => (await work.plan?.(tx, chosen.data, asked)) ?? null)
  return ok({ rows: chosen.data.length, version: rowsVersion(chosen.data), outcomes })
}
