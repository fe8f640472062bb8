import type { Found } from '@netlet/contract'
import { and, desc, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { calledLike } from '../../infra/translations.ts'
import { products } from './tables.ts'

/** Products with the text in their name in any language: exact matches first, then the newest. They are few. */
export function searchProducts(db: Executor, text: string, limit: number): Promise<Found['products']> {
  const exact = sql<boolean>`lower(${products.name}) = ${text.toLowerCase()}`
  return db
    .select({ id: products.id, product_name: products.name, active: products.active, exact })
    .from(products)
    .where(and(isNull(products.deletedAt), calledLike(products, text)))
    .orderBy(desc(exact), desc(products.id))
    .limit(limit)
}
