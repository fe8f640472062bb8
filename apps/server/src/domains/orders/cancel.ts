import { refuse } from '@netlet/contract'
import { actsAsAdmin, type Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { release } from '../inventory/index.ts'
import { enqueueMail } from '../mail/index.ts'
import { orderMail } from './order-mail.ts'
import { lockOrder, transition } from './transition.ts'

/**
 * Cancels an unpaid order and frees its addresses at once. It locks the order, as settlement does: after the payment it
 * is refused, and a payment that comes after it still counts.
 * @param userId only this user's order; null: any order
 */
export const cancelOrder = (ctx: AppContext, by: Actor, id: number, userId: number | null): Promise<Result<null>> =>
  command(ctx, by, unit => cancelOrderIn(unit, id, userId))

async function cancelOrderIn(unit: Unit, id: number, userId: number | null): Promise<Result<null>> {
  const order = await lockOrder(unit, id)
  if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
  // A second click or a repeated request: the order is already cancelled.
  if (order.state === 'cancelled') return done
  if (order.state !== 'placed') return refuse('order_not_unpaid')
  // `unpaidLimit` counts how long addresses were held unpaid, so a past end of the reservation stays.
  const reservedUntil = order.reservedUntil < unit.now ? order.reservedUntil : unit.now
  const byAdmin = actsAsAdmin(unit.by)
  await transition(unit, order, 'cancel', { checkoutUrl: null, reservedUntil }, byAdmin ? { by: 'admin' } : {})
  if (byAdmin) unit.audit('order.cancel', id, { before: { state: order.state }, after: { state: 'cancelled' } })
  const mail = await orderMail(unit.tx, id)
  if (mail) enqueueMail(unit, { ...mail, template: 'order-cancelled', key: `cancelled:${id}` })
  await release(unit.tx, { orderId: id })
  return done
}
