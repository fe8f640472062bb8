import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Actor } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { done, type Result } from '../../../infra/result.ts'
import { unendedRun } from '../../bulk/index.ts'
import { lockOutage, removeOutage } from '../../fleet/index.ts'
import { outageCredits } from '../tables.ts'

/** Deletes an outage that was added by mistake, unless an order was credited. What health checks saw stays. */
export const removeUncredited = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const outage = await lockOutage(unit, id, 'update')
    if (!outage) return refuse('not_found')
    if (!outage.byHand) return refuse('outage_recorded')
    const count = await unit.tx.$count(outageCredits, eq(outageCredits.outageId, id))
    if (count > 0) return refuse('outage_credited', { params: { count } })
    const run = await unendedRun(unit.tx, { action: 'order.credit_outage', input: { outage_id: id } })
    if (run !== undefined) return refuse('outage_being_credited', { params: { run } })
    await removeOutage(unit, outage)
    return done
  })
