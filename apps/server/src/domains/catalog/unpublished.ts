import type { Health } from '@netlet/contract'
import { and, asc, isNull } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { aclRules } from '../inventory/tables.ts'
import { products } from './tables.ts'

/** The most names that are given. */
const NAMED = 5

/** What the platform would sell if it were in its Online Store. */
export async function unpublished(db: Executor): Promise<NonNullable<Health['platform']>['unpublished']> {
  const named = async (table: typeof products | typeof aclRules) => {
    const rows = await db
      .select({ name: table.name })
      .from(table)
      .where(and(isNull(table.deletedAt), table.unpublished))
      .orderBy(asc(table.id))
    return { count: rows.length, names: rows.slice(0, NAMED).map(({ name }) => name) }
  }
  return { products: await named(products), rules: await named(aclRules) }
}
