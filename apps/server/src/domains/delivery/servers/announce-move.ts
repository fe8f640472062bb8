import type { Unit } from '../../../infra/command.ts'
import { enqueueMail } from '../../mail/index.ts'
import { orderMail } from '../../orders/index.ts'

/** Tells the customer that addresses of an order change. */
export async function announceMove(unit: Unit, orderId: number, addresses: number): Promise<void> {
  const mail = await orderMail(unit.tx, orderId)
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    template: 'addresses-changed',
    data: { ...mail.data, addresses },
    key: `moved:${orderId}:${unit.now.toISOString()}`
  })
}
