import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { leasesOf } from '../inventory/index.ts'
import { orders } from './tables.ts'
import { lockOrder, note } from './transition.ts'

/**
 * Takes an order off every list; its row and its history stay. Refused while it holds addresses, reserved ones too. A
 * payment that arrives for it later brings it back.
 */
export const removeOrder = (
  ctx: Pick<AppContext, 'db' | 'jobs' | 'now' | 'changes'>,
  actor: Actor,
  id: number
): Promise<Result<null>> => command(ctx, actor, unit => removeOrderIn(unit, id))

/** `removeOrder` as part of a larger write. */
export async function removeOrderIn(unit: Unit, id: number): Promise<Result<null>> {
  const { tx, now } = unit
  const order = await lockOrder(tx, id)
  if (!order || order.deletedAt) return refuse('not_found')
  if ((await leasesOf(tx, id)).length > 0) return refuse('order_has_lease')
  await tx.update(orders).set({ deletedAt: now }).where(eq(orders.id, id))
  await note(tx, id, 'deleted')
  unit.audit('order.delete', id, { before: { order_id: order.orderId, state: order.state, amount: order.amount } })
  return done
}
