import { refuse, type Order } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { transact } from '../../infra/db/transact.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Actor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { findOrder } from './list.ts'
import { isLive } from './states.ts'
import { orders } from './tables.ts'
import { lockOrder, note } from './transition.ts'

/** Sets when a running order ends: later, or earlier than now planned, but not in the past. */
export async function setExpiry(
  ctx: Pick<AppContext, 'db' | 'now'>,
  actor: Actor,
  id: number,
  expiredAt: Date
): Promise<Result<Order>> {
  const moved = await transact(ctx.db, async tx => {
    const order = await lockOrder(tx, id)
    if (!order || order.deletedAt) return refuse('not_found')
    const now = ctx.now()
    if (!order.paidAt) return refuse('order_not_paid')
    if (order.state === 'expired') return refuse('order_expired')
    if (!isLive(order.state)) {
      return refuse('conflict', { msg: 'This order has not been delivered yet. Its time starts with the delivery.' })
    }
    if (expiredAt <= now) {
      const msg = 'The expire time must lie in the future'
      return refuse('invalid', { msg, data: { errors: { expired_at: msg } } })
    }
    // A customer who was reminded of the old date is reminded of the new one.
    await tx.update(orders).set({ expiredAt, reminderSentAt: null }).where(eq(orders.id, id))
    const before = { expired_at: isoOrNull(order.expiredAt) }
    const after = { expired_at: iso(expiredAt) }
    await note(tx, id, 'expiry set', {
      from: before.expired_at,
      to: after.expired_at,
      by: actor.kind === 'user' ? actor.username : actor.kind
    })
    const entry = { action: 'extend order', targetType: 'order', targetId: id, before, after }
    await record(tx, actor, entry)
    return done
  })
  return moved.ok ? findOrder(ctx.db, id, null, ctx.now()) : moved
}
