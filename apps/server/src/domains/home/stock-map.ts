import { setTimeout as sleep } from 'node:timers/promises'
import { type AddressFamily, STOCK_MAP_SIZE, type StockMap } from '@netlet/contract'
import type { Clock } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { sql } from '../../infra/db/drizzle.ts'
import { aclRules } from '../inventory/tables.ts'
import { serverGroups } from '../servers/tables.ts'

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

/**
 * A read shared by all calls within `ttl` milliseconds, and by calls while it runs. Its waiting callers get a failure,
 * which is not cached.
 * @param changes how many changes this process has heard of: a call after a change waits for the next read, when `ttl`
 * is over; without it, a cached read is good enough
 */
export function sharedRead<T>(
  now: Clock,
  ttl: number,
  read: () => Promise<T>,
  changes: () => number = () => 0
): () => Promise<T> {
  type Read = { at: number; seen: number; value: Promise<T> }
  let last: Read | undefined
  let next: Promise<T> | undefined

  const start = (): Promise<T> => {
    // Drizzle runs a count's query each time that it is awaited; a promise of it runs once.
    const started: Read = { at: now().getTime(), seen: changes(), value: Promise.resolve(read()) }
    started.value.catch(() => {
      if (last === started) last = undefined
    })
    last = started
    return started.value
  }
  const startAfter = async (pause: number): Promise<T> => {
    await sleep(pause)
    next = undefined
    return start()
  }
  return () => {
    const age = last ? now().getTime() - last.at : ttl
    // A negative age means that the clock was set back.
    if (!last || age < 0 || age >= ttl) return next ?? start()
    if (last.seen === changes()) return last.value
    return (next ??= startAfter(ttl - age))
  }
}
