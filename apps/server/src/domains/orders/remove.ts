import { refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { leasesOf } from '../inventory/index.ts'
import { lockOrder, note, updateOrder } from './transition.ts'

/**
 * Takes an order off every list; its row and its history stay. Refused while it holds addresses, reserved ones too. A
 * payment that arrives for it later brings it back.
 */
export const removeOrder = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, unit => removeOrderIn(unit, id))

/** `removeOrder` as part of a larger write. */
export async function removeOrderIn(unit: Unit, id: number): Promise<Result<null>> {
  const order = await lockOrder(unit, id)
  if (!order || order.deletedAt) return refuse('not_found')
  if ((await leasesOf(unit.tx, id)).length > 0) return refuse('order_has_lease')
  await updateOrder(unit, id, { deletedAt: unit.now })
  await note(unit, id, 'deleted')
  unit.audit('order.delete', id, { before: { order_id: order.publicId, state: order.state, amount: order.amount } })
  return done
}
