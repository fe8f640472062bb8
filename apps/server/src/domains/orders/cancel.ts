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
 * Cancels an order that waits for its payment; its addresses are free at once. A payment that is being settled holds the
 * order, so that one of the two comes first: after the payment it is refused, and a payment after it counts all the same.
 * @param userId only the user's own order (null: anyone's)
 */
export const cancelOrder = (ctx: AppContext, by: Actor, id: number, userId: number | null): Promise<Result<null>> =>
  command(ctx, by, unit => cancelOrderIn(unit, id, userId))

async function cancelOrderIn(unit: Unit, id: number, userId: number | null): Promise<Result<null>> {
  const order = await lockOrder(unit, id)
  if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
  // Asked for twice, by a second click or a repeated request: it is as was wanted.
  if (order.state === 'cancelled') return done
  if (order.state !== 'placed') return refuse('order_not_unpaid')
  // The end of the reservation is kept: how long addresses were held unpaid is counted (`unpaidLimit`).
  const reservedUntil = order.reservedUntil < unit.now ? order.reservedUntil : unit.now
  const byAdmin = actsAsAdmin(unit.by)
  await transition(unit, order, 'cancel', { checkoutUrl: null, reservedUntil }, byAdmin ? { by: 'admin' } : {})
  if (byAdmin) unit.audit('order.cancel', id, { before: { state: order.state }, after: { state: 'cancelled' } })
  const mail = await orderMail(unit.tx, id)
  if (mail) enqueueMail(unit, { ...mail, template: 'order-cancelled', key: `cancelled:${id}` })
  await release(unit.tx, { orderId: id })
  return done
}
