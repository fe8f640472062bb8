import type { BulkEffect, BulkPlan, Reason, Refusal } from '@netlet/contract'
import type { Executor } from './db/client.ts'
import { type SQL, sql } from './db/drizzle.ts'

export type Ok<T> = { ok: true; data: T }
/** The result of a command, or an expected refusal. Exceptions are bugs. */
export type Result<T> = Ok<T> | Refusal

export const ok = <T>(data: T): Ok<T> => ({ ok: true, data })
export const done: Ok<null> = { ok: true, data: null }

export type Outcomes = NonNullable<BulkPlan['outcomes']>

/**
 * Counts rows by their outcome, the most frequent first.
 * @param from a table expression such as `unnest(ids)` with its joins
 * @param outcome.refused a reason, or null if the row is not refused
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
