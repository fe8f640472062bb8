import type { StockChange } from '@netlet/contract'
import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { quoteRanges, quoteRules, ruleNames } from '../inventory/index.ts'
import type { ServerRow } from './server-row.ts'
import { serverGroups, serverGroupServers } from './tables.ts'

type Stock = { group: { id: number; name: string }; rule: { id: number; name: string }; stock: number }

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

/** Free addresses of every rule in each of these groups, one by one. */
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
    for (const { ruleId, stock } of await quoteRules(db, { groupId: group.id, step: 1 }))
      all.push({ group, rule: { id: ruleId, name: names.get(ruleId) ?? `#${ruleId}` }, stock })
  return all
}

/** By rule. */
type Free = ReadonlyMap<number, number>

/** Free addresses of ranges that a server has, or shall have, under every rule. Those that it does not sell are none. */
export async function stockOfRanges(
  db: Executor,
  server: Pick<ServerRow, 'status' | 'offline' | 'refusedRanges'>,
  ranges: string[]
): Promise<Free> {
  if (ranges.length === 0 || server.status !== 'active' || server.offline) return new Map()
  const quoted = await quoteRanges(db, { ranges, without: server.refusedRanges })
  return new Map(quoted.map(({ ruleId, stock }) => [ruleId, stock]))
}

/** Stock when some addresses come to each of the groups, and others go. What was sold meanwhile leaves no less than none. */
export const stockAfter = (before: Stock[], { come = [], gone = [] }: { come?: Free[]; gone?: Free[] }): Stock[] =>
  before.map(one => {
    const sumOf = (all: Free[]) => all.reduce((sum, free) => sum + (free.get(one.rule.id) ?? 0), 0)
    return { ...one, stock: Math.max(0, one.stock + sumOf(come) - sumOf(gone)) }
  })

/** Where the two differ. What is missing in the second one has none. */
export function stockChanges(before: Stock[], after: Stock[]): StockChange[] {
  const keyOf = ({ group, rule }: Stock) => `${group.id}.${rule.id}`
  const then = new Map(after.map(one => [keyOf(one), one.stock]))
  return before.flatMap(one => {
    const left = then.get(keyOf(one)) ?? 0
    return left === one.stock ? [] : [{ group: one.group, rule: one.rule, before: one.stock, after: left }]
  })
}
