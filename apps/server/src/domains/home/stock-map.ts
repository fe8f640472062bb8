import { STOCK_MAP_SIZE, type AddressFamily, type StockMap } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { serverGroups } from '../servers/tables.ts'
import { aclRules } from '../inventory/tables.ts'

type Cell = { groupId: number; group: string; family: 4 | 6; ruleId: number; rule: string; free: number }

/**
 * Free addresses of every server group under each single access rule, for each family that the group has. Only the
 * lowest figures are kept, because thousands of them would be unreadable.
 */
export async function readStockMap(db: Executor): Promise<StockMap> {
  const { rows } = await db.execute<Cell>(sql`
    select g.id as "groupId", g.name as "group", f.family, r.id as "ruleId", r.name as rule, s.stock as free
    from ${serverGroups} g
    cross join lateral (
      select distinct family(c.cidr) as family from server_group_servers m
      join cidrs c on c.server_id = m.server_id and c.deleted_at is null
      where m.group_id = g.id
      union select 4 where not exists (
        select 1 from server_group_servers m
        join cidrs c on c.server_id = m.server_id and c.deleted_at is null where m.group_id = g.id)) f
    cross join lateral inventory.stock_by_rule(g.id, 1, '{}', f.family) s
    join ${aclRules} r on r.id = s.rule_id
    where g.deleted_at is null`)
  const groups = leastFirst(rows, ({ groupId, group, family }) => ({ id: groupId, name: group, family }))
  const rules = leastFirst(rows, ({ ruleId, rule }) => ({ id: ruleId, name: rule, family: 4 }))
  const free = new Map(rows.map(cell => [`${cell.groupId}/${cell.family}/${cell.ruleId}`, cell.free]))
  return {
    groups: groups.shown.map(({ id, name, family }) => ({ id, name, family: FAMILY[family] })),
    rules: rules.shown.map(({ id, name }) => ({ id, name })),
    free: groups.shown.map(line => rules.shown.map(rule => free.get(`${line.id}/${line.family}/${rule.id}`) ?? 0)),
    more: { groups: groups.more, rules: rules.more }
  }
}

const FAMILY: Readonly<Record<4 | 6, AddressFamily>> = { 4: 'ipv4', 6: 'ipv6' }

type Line = { id: number; name: string; family: 4 | 6 }

/** Those with the least stock, by name. `more`: how many are left out. */
function leastFirst(cells: readonly Cell[], lineOf: (cell: Cell) => Line) {
  const all = new Map<string, Line & { free: number }>()
  for (const cell of cells) {
    const line = lineOf(cell)
    const key = `${line.id}/${line.family}`
    all.set(key, { ...line, free: (all.get(key)?.free ?? 0) + cell.free })
  }
  const shown = [...all.values()]
    .toSorted((a, b) => a.free - b.free || a.id - b.id)
    .slice(0, STOCK_MAP_SIZE)
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.id - b.id || a.family - b.family)
  return { shown, more: all.size - shown.length }
}
