import { sql } from 'drizzle-orm'
import type { ShopifyOrder } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { EDITED, openPlatform, storeEvent } from '../commerce/index.ts'
import type { PaymentRow } from './rows.ts'
import { ourVariants } from './sold-today.ts'
import { paymentStateOf } from './states.ts'
import { paymentRefunds, payments } from './tables.ts'

/** How far back to look: the platform itself tries a webhook for some hours before it gives up. */
const LOOK_BACK = 48 * HOUR

/** States in which the platform has, or had, all of the money. */
const PAID = new Set(['PAID', 'PARTIALLY_REFUNDED', 'REFUNDED'])

type Event = { eventId: string; topic: string; payload: unknown }

/**
 * Asks the platform for orders that changed, and records what no webhook ever told of: payments, refunds, cancellations,
 * and edits of orders whose payment is held.
 * A shop that was away for longer than the platform tries loses nothing.
 * @returns how many events were found
 */
export async function reconcilePayments(ctx: AppContext): Promise<number> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return 0
  const changed = await platform.data.changedOrders(new Date(ctx.now().getTime() - LOOK_BACK))
  if (!changed.ok) throw new Error(changed.message)
  const paid = changed.value.filter(order => PAID.has(order.financialStatus ?? ''))
  const sold = await ourVariants(ctx.db, [...new Set(paid.flatMap(variantsOf))])
  const ours = paid.filter(order => order.attributes['order_id'] || variantsOf(order).some(id => sold.has(id)))
  const ids = ours.map(({ id }) => id)
  if (ids.length === 0) return 0
  const anyOf = (column: unknown) => sql`${column} = any(${sql.param(ids)}::text[])`
  const [settled, returned] = await Promise.all([
    ctx.db.select().from(payments).where(anyOf(payments.platformOrderId)),
    ctx.db.select({ key: paymentRefunds.key }).from(paymentRefunds).where(anyOf(paymentRefunds.platformOrderId))
  ])
  const known = {
    payments: new Map(settled.map(payment => [payment.platformOrderId, payment])),
    refunds: new Set(returned.map(({ key }) => key))
  }
  const missed = ours.flatMap(order => missedEvents(order, known))
  let found = 0
  for (const event of missed) if (await command(ctx, SYSTEM, unit => storeEvent(unit, event))) found += 1
  return found
}

/** What an order holds, less what was taken off it since. */
const variantsOf = ({ lines }: ShopifyOrder): string[] =>
  lines.flatMap(({ variantId, currentQuantity }) => (variantId && currentQuantity > 0 ? [variantId] : []))

/** Does a payment wait, while its order was edited on the platform since it was last told of? It may settle by now. */
function isOutdated(payment: PaymentRow, { updatedAt }: ShopifyOrder): boolean {
  if (paymentStateOf(payment) !== 'held') return false
  return payment.reportedAt === null || payment.reportedAt < new Date(updatedAt)
}

type Known = { payments: ReadonlyMap<string, PaymentRow>; refunds: ReadonlySet<string> }

function missedEvents(order: ShopifyOrder, known: Known): Event[] {
  const { id, name, updatedAt } = order
  const events: Event[] = []
  const payment = known.payments.get(id)
  const payload = asEvent(order)
  if (!payment) events.push({ eventId: `reconciled:${id}`, topic: 'orders/paid', payload })
  else if (isOutdated(payment, order))
    events.push({ eventId: `${EDITED}${id}:${updatedAt}`, topic: 'orders/paid', payload })
  if (order.cancelledAt && !known.refunds.has(`cancellation:${id}`)) {
    const payload = { id, name, cancelled_at: order.cancelledAt }
    events.push({ eventId: `reconciled:cancellation:${id}`, topic: 'orders/cancelled', payload })
  }
  for (const refund of order.refunds) {
    if (known.refunds.has(`refund:${refund.id}`) || Number(refund.amount) <= 0) continue
    const transactions = [{ kind: 'refund', status: 'success', amount: refund.amount }]
    const payload = { id: refund.id, order_id: id, transactions }
    events.push({ eventId: `reconciled:refund:${refund.id}`, topic: 'refunds/create', payload })
  }
  return events
}

/** The order as its webhook would have told it. */
function asEvent(order: ShopifyOrder) {
  return {
    id: order.id,
    order_number: order.number,
    name: order.name,
    email: order.email,
    currency: order.currency,
    // Refunds have events of their own.
    financial_status: order.financialStatus?.toLowerCase(),
    total_price: order.totalPrice,
    subtotal_price: order.subtotalPrice ?? order.totalPrice,
    total_discounts: order.totalDiscounts,
    discount_codes: order.discountCodes.map(code => ({ code, amount: '0.00' })),
    note_attributes: Object.entries(order.attributes).map(([name, value]) => ({ name, value })),
    line_items: order.lines.map(({ id, title, variantId, quantity, currentQuantity, price }) => ({
      id,
      title,
      variant_id: variantId,
      quantity,
      current_quantity: currentQuantity,
      price
    })),
    created_at: order.createdAt,
    cancelled_at: order.cancelledAt,
    updated_at: order.updatedAt,
    test: order.test
  }
}
