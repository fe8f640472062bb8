import { refuse, type Refusal } from '@netlet/contract'
import { MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { OrderRow } from '../orders/index.ts'
import { paymentOf, type PaymentRow } from './rows.ts'

/** For so long a refund that was started keeps the payment from anything else: the platform has yet to report it. */
const UNDERWAY = 10 * MINUTE

type Requested = Pick<PaymentRow, 'refundRequestedAt' | 'refundRequestedBy' | 'platformOrderNumber'>

/** Has an administrator just asked the platform to give money of this payment back? */
export const isRefundUnderway = ({ refundRequestedAt }: Pick<Requested, 'refundRequestedAt'>, now: Date): boolean =>
  refundRequestedAt !== null && refundRequestedAt.getTime() > now.getTime() - UNDERWAY

/** Says who has started a refund of this payment, and of which; null where nobody has. */
export function refusedByRefund(payment: Requested, now: Date): Refusal | null {
  if (!isRefundUnderway(payment, now)) return null
  const { refundRequestedBy, platformOrderNumber: platform_order } = payment
  return refuse('refund_running', { params: { by: refundRequestedBy ?? '–', platform_order } })
}

/** Delivering a locked order is refused while its money is on its way back. */
export async function mayDeliver({ tx, now }: Unit, { platformOrderId }: OrderRow): Promise<Refusal | null> {
  const payment = platformOrderId ? await paymentOf(tx, platformOrderId) : undefined
  return payment ? refusedByRefund(payment, now) : null
}
