import { and, eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { AcceptPayment } from '../delivery/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { grantForPayment } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { paymentAllows } from './states.ts'
import { payments } from './tables.ts'

/** An administrator delivers in spite of too little money: the payment counts now, and earns what payments earn. */
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
    if (payment && paymentAllows(payment, 'accept')) {
      await unit.tx.update(payments).set({ accepted: true }).where(eq(payments.id, payment.id))
    }
    // Also where it counted before, since its addresses were gone when it arrived: nothing is granted twice.
    await grantPoints(unit, ctx, order, { platformOrderId, amount: payAmount })
  }

/** Grants what a payment earns. What was granted for the same platform order before is not granted again. */
export async function grantPoints(
  unit: Unit,
  ctx: Pick<AppContext, 'secrets'>,
  order: Pick<OrderRow, 'publicId' | 'userId'>,
  { platformOrderId, amount }: { platformOrderId: string; amount: string }
): Promise<void> {
  await grantForPayment(unit, {
    orderPublicId: order.publicId,
    userId: order.userId,
    amount,
    settings: await readSettings(unit.tx, ctx.secrets),
    causeKey: `payment:${platformOrderId}`
  })
}
