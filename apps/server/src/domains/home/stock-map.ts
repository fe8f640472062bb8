import { STOCK_MAP_SIZE, type StockMap } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { serverGroups } from '../fleet/tables.ts'
import { aclRules } from '../inventory/tables.ts'

type Cell = { groupId: number; group: string; ruleId: number; rule: string; free: number }

/**
 * Free addresses of every server group under every access rule, each rule on its own. What is left out is what has most:
 * a map of thousands of figures is read by nobody.
 */
export async function readStockMap(db: Executor): Promise<StockMap> {
  const { rows } = await db.execute<Cell>(sql`
    select g.id as "groupId", g.name as "group", r.id as "ruleId", r.name as rule, s.stock as free
    from ${serverGroups} g
    cross join lateral inventory.stock_by_rule(g.id, 1, '{}') s
    join ${aclRules} r on r.id = s.rule_id
    where g.deleted_at is null`)
  const groups = leastFirst(rows, cell => ({ id: cell.groupId, name: cell.group }))
  const rules = leastFirst(rows, cell => ({ id: cell.ruleId, name: cell.rule }))
  const free = new Map(rows.map(cell => [`${cell.groupId}/${cell.ruleId}`, cell.free]))
  return {
    groups: groups.shown,
    rules: rules.shown,
    free: groups.shown.map(group => rules.shown.map(rule => free.get(`${group.id}/${rule.id}`) ?? 0)),
    more: { groups: groups.more, rules: rules.more }
  }
}

/** Those with the least stock, by name; `more` is how many are left out. */
function leastFirst(cells: readonly Cell[], nameOf: (cell: Cell) => { id: number; name: string }) {
  const all = new Map<number, { id: number; name: string; free: number }>()
  for (const cell of cells) {
    const { id, name } = nameOf(cell)
    all.set(id, { id, name, free: (all.get(id)?.free ?? 0) + cell.free })
  }
  const shown = [...all.values()]
    .toSorted((a, b) => a.free - b.free || a.id - b.id)
    .slice(0, STOCK_MAP_SIZE)
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.id - b.id)
    .map(({ id, name }) => ({ id, name }))
  return { shown, more: all.size - shown.length }
}
