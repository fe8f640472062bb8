import type { OrderState, ProductOrders } from '@netlet/contract'
import { and, count, eq, inArray, isNull } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { among } from '../../infra/list/index.ts'
import { variants } from '../catalog/tables.ts'
import { orders } from './tables.ts'

/** States in which an order still has something to lose. The index `orders_of_variant` has the same states. */
const OPEN = [
  'placed',
  'paid',
  'delivering',
  'partly_delivered',
  'delivered',
  'failed'
] as const satisfies readonly OrderState[]

/** The open orders of a product, including variants that are no longer sold. */
export async function openOrdersOf(db: Executor, productId: number): Promise<ProductOrders> {
  // By variant ids, so that PostgreSQL reads only their part of the index.
  const sold = await db.select({ id: variants.id }).from(variants).where(eq(variants.productId, productId))
  const ids = sold.map(variant => variant.id)
  const rows = await db
    .select({ variantId: orders.variantId, state: orders.state, found: count() })
    .from(orders)
    .where(and(among(orders.variantId, ids), inArray(orders.state, [...OPEN]), isNull(orders.deletedAt)))
    .groupBy(orders.variantId, orders.state)
    .orderBy(orders.variantId)
  const sumOf = (counted: typeof rows) => {
    const of = (unpaid: boolean) =>
      counted.filter(row => (row.state === 'placed') === unpaid).reduce((sum, row) => sum + row.found, 0)
    return { unpaid: of(true), live: of(false) }
  }
  const byVariant = Map.groupBy(rows, row => row.variantId)
  return { ...sumOf(rows), variants: [...byVariant].map(([id, counted]) => ({ id, ...sumOf(counted) })) }
}
