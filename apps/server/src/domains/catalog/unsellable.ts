import type { Health } from '@netlet/contract'
import { and, asc, eq, exists, isNull, ne, type SQL } from '../../infra/db/drizzle.ts'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../infra/db/client.ts'
import { aclRules } from '../inventory/tables.ts'
import { products, variants } from './tables.ts'

type Unsellable = Pick<NonNullable<Health['platform']>, 'unpublished' | 'subscription_only' | 'counted' | 'shipped'>

/** The most names that are given. */
const NAMED = 5

/**
 * What the platform would sell if it were in its Online Store or needed no selling plan, what it sells only as long as
 * its own stock lasts, and what it ships.
 */
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
    subscription_only: {
      products: await named(products, products.subscriptionOnly),
      rules: await named(aclRules, aclRules.subscriptionOnly)
    },
    counted: {
      products: await named(products, and(products.valid, exists(variantsThat(db, isCountedVariant)))),
      rules: await named(aclRules, ne(aclRules.platformStock, 'none'))
    },
    shipped: {
      products: await named(products, and(products.valid, exists(variantsThat(db, variants.shipped)))),
      rules: await named(aclRules, aclRules.shipped)
    }
  }
}

const isCountedVariant = ne(variants.platformStock, 'none')

/** The variants of a product, within a query of products. */
const variantsThat = (db: Executor, condition: SQL | PgColumn) =>
  db
    .select({ id: variants.id })
    .from(variants)
    .where(and(eq(variants.productId, products.id), isNull(variants.deletedAt), condition))

/** Does the platform count a plan or rule of ours that is sold as this product? */
export async function isCounted(db: Executor, platformProductId: string): Promise<boolean> {
  const ofProduct = and(eq(products.platformId, platformProductId), isNull(products.deletedAt))
  const plans = await db.$count(products, and(ofProduct, exists(variantsThat(db, isCountedVariant))))
  const ofRules = and(eq(aclRules.platformProductId, platformProductId), isNull(aclRules.deletedAt))
  return plans > 0 || (await db.$count(aclRules, and(ofRules, ne(aclRules.platformStock, 'none')))) > 0
}
