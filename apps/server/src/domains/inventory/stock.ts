import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { idList } from './sql.ts'

/** Addresses to a block; a variant sells whole blocks. */
export type Step = 1 | 8 | 16 | 32 | 64 | 128 | 256

const steps: readonly Step[] = [1, 8, 16, 32, 64, 128, 256]

export type RuleStock = {
  ruleId: number
  /** Addresses in free aligned blocks of the step. */
  stock: number
}

/**
 * Stock of every live rule in a server group, in addresses: each on its own, or, where rules are selected already,
 * each together with those. A figure of the moment: `reserve` looks again.
 */
export async function quoteRules(
  db: Executor,
  { groupId, step, selected = [] }: { groupId: number; step: number; selected?: number[] }
): Promise<RuleStock[]> {
  const { rows } = await db.execute<{ ruleId: number; stock: number }>(
    sql`select rule_id as "ruleId", stock from inventory.stock_by_rule(${groupId}, ${step}, ${idList(selected)}) order by 1`
  )
  return rows
}

/** Addresses in free aligned blocks that are free for all the rules at once. */
export async function quoteSelection(
  db: Executor,
  { groupId, step, rules }: { groupId: number; step: number; rules: number[] }
): Promise<number> {
  // No rule has such an id, and the database's integers could not even hold it.
  if (rules.some(rule => rule > 2 ** 31 - 1)) return 0
  const { rows } = await db.execute<{ stock: number }>(
    sql`select inventory.stock(${groupId}, ${step}, ${idList(rules)}) as stock`
  )
  return rows[0]?.stock ?? 0
}

/** The largest step that any range of the group can hold; 0 where the group has no ranges. */
export async function maxStep(db: Executor, groupId: number): Promise<Step | 0> {
  const { rows } = await db.execute<{ size: number }>(sql`
    select coalesce(max(c.size), 0) as size
    from inventory.sellers s join chunks c on c.server_id = s.server_id
    where s.group_id = ${groupId} and not c.base <<= any(s.refused_ranges)`)
  const size = rows[0]?.size ?? 0
  return steps.findLast(step => step <= size) ?? 0
}
