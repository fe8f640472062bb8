import { and, asc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { isListed, onSale } from './list-products.ts'
import { products, variants } from './tables.ts'

/** What search engines and link previews may know of a product. */
export type Advertised = {
  id: number
  name: string
  /** Plain text. */
  description: string
  imageUrl: string | null
  /** Search engines must not index it. */
  unlisted: boolean
  /** The lowest and highest price of its variants without rules, exact, in the shop's currency. */
  from: string
  to: string
  offers: number
}

/** A product on sale; undefined if it is not, or no longer, on sale. */
export async function advertisedProduct(db: Executor, id: number): Promise<Advertised | undefined> {
  const [row] = await db
    .select({
      id: products.id,
      name: products.name,
      description: products.description,
      imageUrl: products.imageUrl,
      unlisted: products.unlisted,
      from: sql<string>`min(${variants.price})::text`,
      to: sql<string>`max(${variants.price})::text`,
      offers: sql<number>`count(*)::int`
    })
    .from(products)
    .innerJoin(variants, and(eq(variants.productId, products.id), variants.isActive, isNull(variants.deletedAt)))
    .where(and(eq(products.id, id), isNull(products.deletedAt), onSale()))
    .groupBy(products.id)
  return row
}

/** The ids of listed products on sale, ascending. @param most the limit */
export async function productsOnSale(db: Executor, most: number): Promise<number[]> {
  const rows = await db
    .select({ id: products.id })
    .from(products)
    .where(and(isNull(products.deletedAt), isListed()))
    .orderBy(asc(products.id))
    .limit(most)
  return rows.map(({ id }) => id)
}
