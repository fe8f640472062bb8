import { isoOrNull } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { emitEvent, type Happened } from '../webhooks/index.ts'
import type { OrderEvent } from './states.ts'
import type { orders } from './tables.ts'

type Told = Pick<
  typeof orders.$inferSelect,
  'id' | 'publicId' | 'userId' | 'state' | 'quantity' | 'expiredAt' | 'failCode'
>

/** Emits an order's event to webhooks: ids, state, times. Programs read credentials with an API key instead. */
export const emitOrderEvent = (unit: Unit, type: Happened['type'], order: Told, more: object = {}): Promise<void> =>
  emitEvent(unit, {
    type,
    userId: order.userId,
    data: {
      order_id: order.id,
      order: order.publicId,
      user_id: order.userId,
      state: order.state,
      proxies: order.quantity,
      expires_at: isoOrNull(order.expiredAt),
      ...more
    }
  })

const TOLD: Partial<Record<OrderEvent, Happened['type']>> = {
  pay: 'order.paid',
  fail: 'order.failed',
  deliver_all: 'order.delivered',
  expire: 'order.expired',
  time_out: 'order.timed_out',
  cancel: 'order.cancelled',
  refund: 'order.refunded'
}

/** Emits the webhook event of a transition, if it has one. */
export async function emitTransitionEvent(unit: Unit, event: OrderEvent, order: Told): Promise<void> {
  const type = TOLD[event]
  if (type) await emitOrderEvent(unit, type, order, type === 'order.failed' ? { failure: order.failCode } : {})
}
