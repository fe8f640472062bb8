import { fromCents, toCents } from '@netlet/contract'
import { eq, inArray } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { variants } from '../catalog/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import type { OrderRow } from '../orders/index.ts'

/**
 * What another term of an order has to bring: what it was bought for, or less where it has become cheaper since, for
 * the platform charges what it asks today.
 */
export async function renewalPrice(
  db: Executor,
  order: Pick<OrderRow, 'variantId' | 'rules' | 'quantity' | 'amount'>
): Promise<string> {
  const [variant] = await db.select({ price: variants.price }).from(variants).where(eq(variants.id, order.variantId))
  const rules = await db.select({ price: aclRules.price }).from(aclRules).where(inArray(aclRules.id, order.rules))
  if (!variant || rules.length < order.rules.length) return order.amount
  const each = [variant, ...rules].reduce((sum, { price }) => sum + toCents(price), 0n)
  const today = each * BigInt(order.quantity)
  return today < toCents(order.amount) ? fromCents(today) : order.amount
}
