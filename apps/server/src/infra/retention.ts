import type { Retained, RetentionSetting } from '@netlet/contract'
import { getTableName, sql, type SQL } from './db/drizzle.ts'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Unit } from './command.ts'
import type { Executor } from './db/client.ts'

/** How long rows are kept: a setting (in days) or a fixed time in milliseconds. */
export type Keep = { setting: RetentionSetting } | { ms: number }

/** Rows that would grow without limit, declared by the domain that owns them. Source of docs/RETENTION.md. */
export type RetentionEntry = {
  what: Retained
  keep: Keep
  /** A sentence for operators of the shop: what the rows are for, and what their loss costs. */
  why: string
  /**
   * Removes rows older than `before`. It is called in a new command each time, until it removes nothing.
   * @param limit maximum number of rows
   * @returns how many it removed
   */
  remove(unit: Unit, before: Date, limit: number): Promise<number>
  count(db: Executor): Promise<Counted>
}

export type Counted = { rows: number; oldest: Date | null }

/** Deletes at most `limit` rows, without rows that another transaction has locked. @returns how many */
export const removeRows = async (unit: Unit, table: PgTable, where: SQL | undefined, limit: number): Promise<number> =>
  (await unit.tx.execute(removal(table, where, limit))).rowCount ?? 0

/** The same, for callers that clean up after each row. @returns their `column` */
export async function removeRowsGiving(
  unit: Unit,
  column: PgColumn,
  where: SQL | undefined,
  limit: number
): Promise<number[]> {
  const { rows } = await unit.tx.execute<{ id: number }>(
    sql`${removal(column.table, where, limit)} returning ${column} as id`
  )
  return rows.map(({ id }) => id)
}

const removal = (table: PgTable, where: SQL | undefined, limit: number): SQL => sql`delete from ${table}
  where ctid = any (array(select ctid from ${table} where ${where} limit ${limit} for update skip locked))`

/** From this number of rows on we use PostgreSQL's estimate, because counting reads the whole table. */
const ESTIMATED_FROM = 100_000

/** The number of rows of a table (or of `where`), and the oldest by `time`, which should have an index. */
export async function countRows(db: Executor, table: PgTable, time: PgColumn, where?: SQL): Promise<Counted> {
  const estimate = where ? 0 : await estimatedRows(db, getTableName(table))
  const rows = estimate < ESTIMATED_FROM ? await db.$count(table, where) : estimate
  const [first] = await db
    .select({ oldest: sql<string | null>`min(${time})::timestamptz` })
    .from(table)
    .where(where)
  return { rows, oldest: first?.oldest ? new Date(first.oldest) : null }
}

async function estimatedRows(db: Executor, table: string): Promise<number> {
  const { rows } = await db.execute<{ estimate: number }>(
    sql`select reltuples::bigint as estimate from pg_class where oid = ${table}::regclass`
  )
  return rows[0]?.estimate ?? 0
}
