import type { Settings } from '@netlet/contract'
import { and, eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueTags, resolveEventsOf } from '../commerce/index.ts'
import type { AcceptPayment } from '../delivery/index.ts'
import { taskRequesterOf, type OrderRow } from '../orders/index.ts'
import { grantForPayment } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { keptOf, paymentOf, setAccepted } from './rows.ts'
import { ENDED_BY_DELIVERY, paymentAllows } from './states.ts'
import { payments } from './tables.ts'

/** A failed order is delivered after all: its payment counts now, and earns what payments earn. */
export const acceptPayment =
  (ctx: Pick<AppContext, 'secrets'>): AcceptPayment =>
  async (unit, order) => {
    const { platformOrderId, payAmount } = order
    if (!platformOrderId || !payAmount) return
    const [payment] = await unit.tx
      .select()
      .from(payments)
      .where(and(eq(payments.orderId, order.id), eq(payments.platformOrderId, platformOrderId)))
      .for('update')
    if (payment && paymentAllows(payment, 'accept')) await setAccepted(unit, order, payment)
    // Also where it counted before, since its addresses were gone when it arrived: nothing is granted twice.
    const settings = await readSettings(unit.tx, ctx.secrets)
    await grantPoints(unit, settings, order, { platformOrderId, amount: payAmount })
    unit.publish('platform_event')
  }

/** `acceptPayment` where an administrator has the order delivered: the inbox and the platform's order say so. */
export const acceptByHand =
  (ctx: Pick<AppContext, 'secrets'>): AcceptPayment =>
  async (unit, order) => {
    await acceptPayment(ctx)(unit, order)
    const { platformOrderId } = order
    if (!platformOrderId) return
    const by = await taskRequesterOf(unit.tx, order.id)
    if (by === null) return
    await resolveEventsOf(unit, platformOrderId, [...ENDED_BY_DELIVERY], { resolution: 'applied', note: null, by })
    // Tag and note take the place of those that said why nothing was delivered.
    enqueueTags(unit, { platformOrderId, tags: ['delivered'], note: `Delivered by ${by}` }, 'by-hand')
  }

/** Grants what the kept part of a payment earns. What was granted for the same platform order before is not granted again. */
export async function grantPoints(
  unit: Unit,
  settings: Settings,
  order: Pick<OrderRow, 'publicId' | 'userId'>,
  { platformOrderId, amount }: { platformOrderId: string; amount: string }
): Promise<void> {
  const { userId, publicId } = order
  const payment = await paymentOf(unit.tx, platformOrderId)
  const kept = payment ? keptOf(payment).amount : amount
  await grantForPayment(unit, { orderPublicId: publicId, userId, amount: kept, settings, paymentId: platformOrderId })
}
