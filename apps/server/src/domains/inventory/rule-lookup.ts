import type { Translations } from '@netlet/contract'
import { and, asc, inArray, isNull, ne } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { aclRules } from './tables.ts'

/** The names of all rules that ever existed, by id, because orders may name a deleted one. */
export async function ruleNames(db: Executor): Promise<Map<number, string>> {
  const rows = await db.select({ id: aclRules.id, name: aclRules.name }).from(aclRules)
  return new Map(rows.map(row => [row.id, row.name]))
}

/** The same, with their names in other languages. */
export async function ruleTexts(db: Executor): Promise<Map<number, { name: string; translations: Translations }>> {
  const columns = { id: aclRules.id, name: aclRules.name, translations: aclRules.translations }
  return new Map((await db.select(columns).from(aclRules)).map(({ id, ...texts }) => [id, texts]))
}

const notSoldOut = ne(aclRules.platformStock, 'sold_out')

/** Those of these rules that are on sale, here and on the platform, with their prices. */
export async function rulesById(db: Executor, ids: number[]) {
  // int4: a larger number is no id, and would be an error of the database.
  const possible = ids.filter(id => id <= 2_147_483_647)
  if (possible.length === 0) return []
  return db
    .select({
      id: aclRules.id,
      name: aclRules.name,
      price: aclRules.price,
      platformVariantId: aclRules.platformVariantId
    })
    .from(aclRules)
    .where(and(inArray(aclRules.id, possible), isNull(aclRules.deletedAt), aclRules.valid, notSoldOut))
}

/** Rules that can be bought, oldest first: on sale here and on the platform. */
export const sellableRules = (db: Executor) =>
  db
    .select()
    .from(aclRules)
    .where(and(isNull(aclRules.deletedAt), aclRules.valid, notSoldOut))
    .orderBy(asc(aclRules.id))
