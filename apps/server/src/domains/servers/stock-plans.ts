import { ADDRESS_FAMILIES, type AddressFamily, type StockChange } from '@netlet/contract'
import { and, asc, eq, inArray, isNull } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { familyOf, stockOfRangesByRule, stockByRule, ruleNames } from '../inventory/index.ts'
import { type ServerRow, sells } from './server-row.ts'
import { serverGroups, serverGroupServers } from './tables.ts'

type Stock = {
  group: { id: number; name: string }
  rule: { id: number; name: string }
  family: AddressFamily
  stock: number
}

/** The groups that a server is in, by id. */
export async function groupsOfServer(db: Executor, serverId: number): Promise<number[]> {
  const rows = await db
    .select({ id: serverGroups.id })
    .from(serverGroupServers)
    .innerJoin(serverGroups, eq(serverGroups.id, serverGroupServers.groupId))
    .where(and(eq(serverGroupServers.serverId, serverId), isNull(serverGroups.deletedAt)))
    .orderBy(asc(serverGroups.id))
  return rows.map(({ id }) => id)
}

/** Free addresses of every rule in each of these groups, one by one and by family. */
export async function stockOfGroups(db: Executor, groupIds: number[]): Promise<Stock[]> {
  if (groupIds.length === 0) return []
  const groups = await db
    .select({ id: serverGroups.id, name: serverGroups.name })
    .from(serverGroups)
    .where(inArray(serverGroups.id, groupIds))
    .orderBy(asc(serverGroups.id))
  const names = await ruleNames(db)
  const all: Stock[] = []
  for (const group of groups)
    for (const family of ADDRESS_FAMILIES)
      for (const { ruleId, stock } of await stockByRule(db, { groupId: group.id, step: 1, family }))
        all.push({ group, rule: { id: ruleId, name: names.get(ruleId) ?? `#${ruleId}` }, family, stock })
  return all
}

/** Free addresses by rule and family. */
type Free = ReadonlyMap<string, number>

const keyOf = (ruleId: number, family: AddressFamily): string => `${ruleId}.${family}`

/** Free addresses under every rule in ranges that a server has or will have. A range that is not sold has none. */
export async function stockOfRanges(
  db: Executor,
  server: Pick<ServerRow, 'status' | 'offline' | 'unservedSince' | 'refusedRanges' | 'withheldRanges'>,
  ranges: string[]
): Promise<Free> {
  if (ranges.length === 0 || !sells(server)) return new Map()
  const without = [...server.refusedRanges, ...server.withheldRanges]
  const free = new Map<string, number>()
  for (const family of ADDRESS_FAMILIES) {
    const own = ranges.filter(range => familyOf(range) === family)
    if (own.length === 0) continue
    const counted = await stockOfRangesByRule(db, { ranges: own, without })
    for (const { ruleId, stock } of counted) free.set(keyOf(ruleId, family), stock)
  }
  return free
}

/** The stock once addresses come to each group or leave it. Never below 0, because some may have been sold since. */
export const stockAfter = (before: Stock[], { come = [], gone = [] }: { come?: Free[]; gone?: Free[] }): Stock[] =>
  before.map(one => {
    const sumOf = (all: Free[]) => all.reduce((sum, free) => sum + (free.get(keyOf(one.rule.id, one.family)) ?? 0), 0)
    return { ...one, stock: Math.max(0, one.stock + sumOf(come) - sumOf(gone)) }
  })

/** Entries with another stock. An entry missing in `after` has none. */
export function stockChanges(before: Stock[], after: Stock[]): StockChange[] {
  const placeOf = ({ group, rule, family }: Stock) => `${group.id}.${keyOf(rule.id, family)}`
  const then = new Map(after.map(one => [placeOf(one), one.stock]))
  return before.flatMap(one => {
    const left = then.get(placeOf(one)) ?? 0
    const { group, rule, family, stock } = one
    return left === stock ? [] : [{ group, rule, family, before: stock, after: left }]
  })
}
