import { refuse, type Order } from '@netlet/contract'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { Actor } from '../../infra/actor.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { findOrder } from './list.ts'
import { isLive } from './states.ts'
import { lockOrder, note, updateOrder } from './transition.ts'

/** Sets when a delivered order ends: later, or earlier than now planned, but not in the past. */
export async function setExpiry(ctx: AppContext, actor: Actor, id: number, expiredAt: Date): Promise<Result<Order>> {
  const moved = await command(ctx, actor, async unit => {
    const order = await lockOrder(unit, id)
    if (!order || order.deletedAt) return refuse('not_found')
    if (!order.paidAt) return refuse('order_not_paid')
    if (order.state === 'expired') return refuse('order_expired')
    if (!isLive(order.state) || !order.expiredAt) return refuse('order_not_delivered')
    if (expiredAt <= unit.now) return fieldRefusal('expired_at', 'expiry_in_past')
    // A customer who was reminded of the old date is reminded of the new one.
    await updateOrder(unit, id, { expiredAt, reminderSentAt: null, lastReminderSentAt: null })
    const before = { expired_at: isoOrNull(order.expiredAt) }
    const after = { expired_at: iso(expiredAt) }
    await note(unit, id, 'expiry_set', {
      from: before.expired_at,
      to: after.expired_at,
      by: actor.kind === 'user' ? actor.username : actor.kind
    })
    unit.audit('order.extend', id, { before, after })
    return done
  })
  return moved.ok ? findOrder(ctx.db, id, null, ctx.now()) : moved
}
