import type { Health } from '@netlet/contract'
import { and, asc, eq, exists, isNull, ne, type SQL } from '../../infra/db/drizzle.ts'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../infra/db/client.ts'
import { aclRules } from '../inventory/tables.ts'
import { products, variants } from './tables.ts'

type Unsellable = Pick<NonNullable<Health['platform']>, 'unpublished' | 'counted'>

/** The most names that are given. */
const NAMED = 5

/** What the platform would sell if it were in its Online Store, and what it sells only as long as its own stock lasts. */
export async function unsellable(db: Executor): Promise<Unsellable> {
  const named = async (table: typeof products | typeof aclRules, condition: SQL | PgColumn | undefined) => {
    const rows = await db
      .select({ name: table.name })
      .from(table)
      .where(and(isNull(table.deletedAt), condition))
      .orderBy(asc(table.id))
    return { count: rows.length, names: rows.slice(0, NAMED).map(({ name }) => name) }
  }
  return {
    unpublished: {
      products: await named(products, products.unpublished),
      rules: await named(aclRules, aclRules.unpublished)
    },
    counted: {
      products: await named(products, and(products.valid, exists(countedVariants(db)))),
      rules: await named(aclRules, ne(aclRules.platformStock, 'none'))
    }
  }
}

/** The variants of a product that the platform counts, within a query of products. */
const countedVariants = (db: Executor) =>
  db
    .select({ id: variants.id })
    .from(variants)
    .where(and(eq(variants.productId, products.id), isNull(variants.deletedAt), ne(variants.platformStock, 'none')))

/** Does the platform count a plan or rule of ours that is sold as this product? */
export async function isCounted(db: Executor, platformProductId: string): Promise<boolean> {
  const ofProduct = and(eq(products.platformId, platformProductId), isNull(products.deletedAt))
  const plans = await db.$count(products, and(ofProduct, exists(countedVariants(db))))
  const ofRules = and(eq(aclRules.platformProductId, platformProductId), isNull(aclRules.deletedAt))
  return plans > 0 || (await db.$count(aclRules, and(ofRules, ne(aclRules.platformStock, 'none')))) > 0
}
