import { and, asc, eq, isNull } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { products, variants } from './tables.ts'

/** Names of the variants that sell from a server group, by id. */
export async function variantsSellingFrom(db: Executor, groupId: number): Promise<string[]> {
  const rows = await db
    .select({ name: variants.name })
    .from(variants)
    .where(and(eq(variants.serverGroupId, groupId), isNull(variants.deletedAt)))
    .orderBy(asc(variants.id))
  return rows.map(variant => variant.name)
}

/** The current term of a variant in days, even if it is no longer sold. */
export async function termOf(db: Executor, variantId: number): Promise<number> {
  const [variant] = await db.select({ days: variants.proxyTime }).from(variants).where(eq(variants.id, variantId))
  if (!variant) throw new Error(`There is no variant ${variantId}`)
  return variant.days
}

/** The platform's ids of our products, without withdrawn ones. */
export async function productsOnPlatform(db: Executor): Promise<string[]> {
  const rows = await db
    .select({ id: products.platformId })
    .from(products)
    .where(and(isNull(products.deletedAt), products.valid))
  return rows.map(product => product.id)
}
