import { sql } from '../../infra/db/drizzle.ts'
import { serverGroups } from '../servers/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import { MOST_FOUND, type NoticeFinder } from '../notices/index.ts'
import { countPriceDrifts } from './price-drift.ts'
import { variants } from './tables.ts'

type Low = { groupId: number; group: string; ruleId: number; rule: string; left: number; below: number }

/** Notices about prices, and about free addresses of each group and rule that products are sold from. */
export const catalogFinders: NoticeFinder[] = [
  {
    cause: 'prices',
    every: 5,
    async find({ db }) {
      const count = await countPriceDrifts(db)
      return count === 0 ? [] : [{ subject: '', words: 'prices', params: { count }, count }]
    }
  },
  {
    cause: 'stock',
    // It counts by group and rule, as the console's map of stock does.
    every: 5,
    async find({ db }, { threshold, rules }) {
      const { rows } = await db.execute<Low>(sql`
        with level as (
          select * from jsonb_to_recordset(${JSON.stringify(rules.stock)}::jsonb) as l (group_id bigint, rule_id int, below int)
        )
        select g.id as "groupId", g.name as "group", r.id as "ruleId", r.name as rule, s.stock as left,
          coalesce(l.below, ${threshold}::int) as below
        from ${serverGroups} g
        cross join lateral inventory.stock_by_rule(g.id, 1, '{}') s
        join ${aclRules} r on r.id = s.rule_id
        left join level l on l.group_id = g.id and l.rule_id = r.id
        where g.deleted_at is null and s.stock < coalesce(l.below, ${threshold}::int)
          and exists (select from ${variants} v where v.server_group_id = g.id and v.is_active and v.deleted_at is null)
        order by s.stock, g.id, r.id limit ${MOST_FOUND}`)
      return rows.map(({ groupId, group, ruleId, rule, left, below }) => ({
        subject: `${groupId}/${ruleId}`,
        words: 'stock',
        params: { group, rule, left, below },
        // Nothing is left, so purchases cannot be delivered.
        ...(left === 0 ? { severity: 'critical' } : {})
      }))
    }
  }
]
