import { refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { leasesOf } from '../inventory/index.ts'
import { lockOrder, note, updateOrder } from './transition.ts'

/**
 * Takes an order off every list; its row and its history stay. Refused while it holds addresses, reserved ones too. A
 * payment that arrives for it later brings it back.
 */
export async function removeOrder(ctx: AppContext, actor: Actor, id: number): Promise<Result<null>> {
  return command(ctx, actor, async unit => {
    const order = await lockOrder(unit, id)
    if (!order || order.deletedAt) return refuse('not_found')
    if ((await leasesOf(unit.tx, id)).length > 0) return refuse('order_has_lease')
    await updateOrder(unit, id, { deletedAt: unit.now })
    await note(unit, id, 'deleted')
    const before = { order_id: order.publicId, state: order.state, amount: order.amount }
    unit.audit('order.delete', id, { before })
    return done
  })
}
