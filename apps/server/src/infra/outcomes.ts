import type { BulkEffect, BulkPlan, Reason } from '@netlet/contract'
import { sql, type SQL } from 'drizzle-orm'
import type { Executor } from './db/client.ts'

export type Outcomes = NonNullable<BulkPlan['outcomes']>

/**
 * Counts rows by what would become of them, those of most rows first.
 * @param from what is looked through: `unnest(ids)` and what hangs on it
 * @param outcome.refused a reason, or null where the row is not refused
 */
export async function countOutcomes(
  db: Executor,
  from: SQL,
  { refused, effect }: { refused: SQL<Reason | null>; effect: SQL<BulkEffect> }
): Promise<Outcomes> {
  const { rows } = await db.execute<{ reason: Reason | null; effect: BulkEffect | null; rows: number }>(sql`
    select reason, case when reason is null then effect end as effect, count(*)::int as rows
    from (select ${refused} as reason, ${effect} as effect from ${from}) as outcomes
    group by 1, 2
    order by rows desc, reason, effect`)
  return {
    effects: rows.flatMap(row => (row.effect ? [{ effect: row.effect, rows: row.rows }] : [])),
    refusals: rows.flatMap(row => (row.reason ? [{ reason: row.reason, rows: row.rows }] : []))
  }
}
