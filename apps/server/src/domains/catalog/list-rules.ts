import type { OfferedRule } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { aclRules } from '../inventory/tables.ts'
import { onSale } from './list-products.ts'
import { products, variants } from './tables.ts'

const MOST = 100
/** Sites of a rule that are named. */
const SITES = 6

/**
 * The rules that can be bought, here and on the platform: those with most products to sell first. What an administrator
 * wrote about a rule is no part of it. Each group, block size and family is asked for once, however many variants share it.
 */
export async function listOfferedRules(db: Executor): Promise<OfferedRule[]> {
  const { rows } = await db.execute<OfferedRule>(sql`
    with sold as (
      select v.product_id, v.server_group_id as group_id, v.cart_step as step,
        case v.address_family when 'ipv6' then 6 else 4 end as family
      from ${variants} v join ${products} on ${products.id} = v.product_id
      where ${products.deletedAt} is null and ${onSale()}
        and v.is_active and v.deleted_at is null and v.server_group_id is not null
    ), stock as (
      select k.group_id, k.step, k.family, s.rule_id
      from (select distinct group_id, step, family from sold) k
      cross join lateral inventory.stock_by_rule(k.group_id, k.step, '{}', k.family) s
      where s.stock > 0
    ), offers as (
      select stock.rule_id, count(distinct sold.product_id)::int as products
      from stock join sold using (group_id, step, family) group by 1
    )
    select r.id as acl_id, r.name as acl_name, r.price::text as price, r.domains[1:${sql.raw(String(SITES))}] as domains,
      cardinality(r.domains) as domain_count, coalesce(o.products, 0) as product_count
    from ${aclRules} r left join offers o on o.rule_id = r.id
    where r.deleted_at is null and r.valid
    order by product_count desc, r.id limit ${MOST}`)
  return rows
}
