import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { transact } from '../../infra/db/transact.ts'
import type { Actor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { leasesOf } from '../inventory/index.ts'
import { orders } from './tables.ts'
import { lockOrder, note } from './transition.ts'

/**
 * Takes an order off every list; its row and its history stay. Refused while it holds addresses, reserved ones too. A
 * payment that arrives for it later brings it back.
 */
export async function removeOrder(
  ctx: Pick<AppContext, 'db' | 'now'>,
  actor: Actor,
  id: number
): Promise<Result<null>> {
  return transact(ctx.db, async tx => {
    const order = await lockOrder(tx, id)
    if (!order || order.deletedAt) return refuse('not_found')
    if ((await leasesOf(tx, id)).length > 0) return refuse('order_has_lease')
    await tx.update(orders).set({ deletedAt: ctx.now() }).where(eq(orders.id, id))
    await note(tx, id, 'deleted')
    const before = { order_id: order.orderId, state: order.state, amount: order.amount }
    await record(tx, actor, { action: 'delete order', targetType: 'order', targetId: id, before })
    return done
  })
}
