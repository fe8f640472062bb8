import type { OfferedRule, Translations } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { translated } from '../../infra/translations.ts'
import { aclRules } from '../inventory/tables.ts'
import type { Offers } from './list-products.ts'

const MOST = 100
/** How many sites of a rule are named. */
const SITES = 6

/** The rules that can be bought, those with the most products first. Administrators' notes are left out. */
export async function listOfferedRules(db: Executor, offers: Offers): Promise<OfferedRule[]> {
  const { rows } = await db.execute<Omit<OfferedRule, 'product_count'> & { translations: Translations }>(sql`
    select r.id as acl_id, r.name as acl_name, r.price::text as price, r.domains[1:${sql.raw(String(SITES))}] as domains,
      cardinality(r.domains) as domain_count, r.translations
    from ${aclRules} r where r.deleted_at is null and r.valid and r.platform_stock <> 'sold_out' order by r.id`)
  return rows
    .map(({ translations, ...rule }) => ({
      ...rule,
      product_count: offers.get(rule.acl_id)?.length ?? 0,
      ...translated({ translations })
    }))
    .toSorted((a, b) => b.product_count - a.product_count)
    .slice(0, MOST)
}
