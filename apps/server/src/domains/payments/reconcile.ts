import { inArray } from 'drizzle-orm'
import type { PaidOrder, ShopifyOrder } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform, storeEvent } from '../commerce/index.ts'
import { payments } from './tables.ts'

/** How far back to look: the platform itself tries a webhook for some hours before it gives up. */
const LOOK_BACK = 48 * HOUR

/**
 * Asks the platform for paid orders and settles those that no webhook ever told of: a shop that was away for longer
 * than the platform tries loses no payment.
 * @returns how many were found
 */
export async function reconcilePayments(ctx: AppContext): Promise<number> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return 0
  const paid = await platform.data.paidOrders(new Date(ctx.now().getTime() - LOOK_BACK))
  if (!paid.ok) throw new Error(paid.message)
  const ours = paid.value.filter(order => order.attributes['order_id'] && order.paid && !order.cancelled)
  if (ours.length === 0) return 0
  const known = await ctx.db
    .select({ id: payments.platformOrderId })
    .from(payments)
    .where(
      inArray(
        payments.platformOrderId,
        ours.map(order => order.id)
      )
    )
  const settled = new Set(known.map(row => row.id))
  const missed = ours.filter(order => !settled.has(order.id))
  for (const order of missed) {
    const event = { eventId: `reconciled:${order.id}`, topic: 'orders/paid', payload: asEvent(order) }
    await command(ctx, SYSTEM, unit => storeEvent(unit, event))
  }
  return missed.length
}

/** The order as its webhook would have told it. */
function asEvent(order: ShopifyOrder): PaidOrder {
  return {
    id: order.id,
    order_number: order.number,
    name: order.name,
    email: order.email,
    currency: order.currency,
    financial_status: 'paid',
    total_price: order.totalPrice,
    subtotal_price: order.subtotalPrice ?? order.totalPrice,
    total_discounts: order.totalDiscounts,
    discount_codes:
      order.discountCodes.length > 0 ? [{ code: order.discountCodes.join(','), amount: order.totalDiscounts }] : [],
    note_attributes: Object.entries(order.attributes).map(([name, value]) => ({ name, value })),
    line_items: []
  }
}
