import { sql } from '../../infra/db/drizzle.ts'
import { MINUTE } from '../../infra/clock.ts'
import type { paidEvent } from '../../testing/buying.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { handleEvent } from '../commerce/index.ts'
import type { OrderShop } from '../payments/order-shop.fixture.ts'
import { queueUnreadOrders, readOrder } from './read-order.ts'

type Refund = { id: number; amount: string; buyer?: { amount: string; currency: string } }

const money = (amount: string) => ({ shopMoney: { amount } })

/** What the platform's API returns for an order that it reported as `paid`, in the shop's currency. */
export function platformOrder(paid: ReturnType<typeof paidEvent>, refunds: readonly Refund[] = []) {
  const back = refunds.reduce((sum, { amount }) => sum + Number(amount), 0)
  const status = back === 0 ? 'PAID' : back < Number(paid.total_price) ? 'PARTIALLY_REFUNDED' : 'REFUNDED'
  return {
    id: `gid://shopify/Order/${paid.id}`,
    name: paid.name,
    number: paid.order_number,
    email: null,
    note: null,
    tags: [],
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: `2026-01-01T00:00:0${refunds.length}Z`,
    cancelledAt: null,
    currencyCode: paid.currency,
    displayFinancialStatus: status,
    test: false,
    lineItems: {
      nodes: paid.line_items.map(({ variant_id, title, quantity, ...line }, at) => ({
        id: `gid://shopify/LineItem/${at}`,
        title,
        quantity,
        currentQuantity: 'current_quantity' in line ? line.current_quantity : quantity,
        variant: { id: `gid://shopify/ProductVariant/${variant_id}` },
        originalUnitPriceSet: money('1.00')
      })),
      pageInfo: { hasNextPage: false, endCursor: null }
    },
    refunds: refunds.map(({ id, amount, buyer }) => ({
      id: `gid://shopify/Refund/${id}`,
      totalRefundedSet: {
        ...money(amount),
        ...(buyer && { presentmentMoney: { amount: buyer.amount, currencyCode: buyer.currency } })
      }
    })),
    disputes: [] as object[],
    discountCodes: [] as string[],
    customAttributes: paid.note_attributes.map(({ name, value }) => ({ key: name, value })),
    fullyPaid: true,
    totalReceivedSet: money(paid.total_price),
    subtotalPriceSet: money(paid.total_price),
    totalDiscountsSet: money('0.00')
  }
}

/** Lets the last refund of an order fail on the platform, and its order be read. */
export async function failLastRefund(world: OrderShop, paid: ReturnType<typeof paidEvent>): Promise<void> {
  const made = world.refundsMade.findLast(({ platformOrderId }) => platformOrderId === String(paid.id))
  if (!made) throw new Error('no refund was made')
  made.status = 'FAILURE'
  world.platformOrders.known.set(String(paid.id), platformOrder(paid))
  await world.advance(11 * MINUTE)
  // Events that the first read finds are handled before the refund is looked up.
  for (let times = 0; times < 2; times++) {
    await queueUnreadOrders(world.shop.ctx)
    await work(world)
  }
}

/** Runs the queued reads and events as the workers do, until none is left. */
export async function work({ shop: { ctx } }: OrderShop): Promise<void> {
  for (;;) {
    const { rows: asked } = await ctx.db.execute<{ id: string }>(sql`
      delete from pgboss.job where name = 'read-platform-order' returning data ->> 'platformOrderId' as id`)
    for (const { id } of asked) await readOrder(ctx, { platformOrderId: id })
    const { rows: events } = await ctx.db.execute<{ event_id: string }>(
      sql`select event_id from platform_events where processed_at is null order by id desc`
    )
    for (const { event_id } of events) await handleEvent(ctx, eventHandlers, event_id)
    if (asked.length + events.length === 0) return
  }
}
