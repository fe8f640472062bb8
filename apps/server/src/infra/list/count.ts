import { and, sql, type SQL } from '../db/drizzle.ts'
import { getTableConfig } from 'drizzle-orm/pg-core'
import type { Executor } from '../db/client.ts'
import { containing } from '../db/like.ts'
import type { List, ListInput, Match } from './list.ts'
import { eachOf, groupsOf, WALK } from './select-ids.ts'

/** Totals up to this are exact. */
export const CAP = 10_000
/** A text with fewer expected rows is counted by its index; a more common one only in a small table. */
const FEW = 3000
const SMALL = 20_000

export type Total = { total: number; total_exact: boolean }

/** Counts up to one more than the cap by indexes only; undefined for a text search (see `countText`). */
export function countQuery<Q extends ListInput, Item extends { id: number }>(
  list: List<Q, Item>,
  { text, anyOf, where = [] }: Match
): SQL | undefined {
  if (text && !anyOf) return undefined
  const all = [...where, text ? sql`${text.in} ilike ${containing(text.term)}` : undefined]
  const some = (condition?: SQL) =>
    sql`select ${list.id} as id from ${list.table} where ${and(...all, condition) ?? sql`true`} limit ${CAP + 1}`
  const groups = groupsOf(anyOf)
  if (anyOf && groups.length === 0) return sql`select 0 as found`
  const rows = anyOf
    ? sql.join(
        groups.map(among => sql`(select id from (${eachOf(among, some)}) each limit ${CAP + 1})`),
        sql` union `
      )
    : some()
  return sql`select count(*) as found from (${rows}) matching`
}

/** The total for a count up to the cap. */
export const totalOf = (found: number, { capped = false }: Match): Total => ({
  total: Math.min(found, CAP),
  total_exact: found <= CAP && !capped
})

/** How many rows match: exact up to the cap, a lower bound beyond it. */
export async function countMatching<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  match: Match
): Promise<Total> {
  const query = countQuery(list, match)
  if (query) return totalOf(await one(db, query), match)
  return match.text ? countText(db, list, match, match.text) : totalOf(0, match)
}

/**
 * The newest rows show how common a text is. A rare one is counted exactly by its index. For a common one the count
 * among the newest rows is a lower bound, because the index would have to visit every match.
 */
async function countText<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  match: Match,
  text: NonNullable<Match['text']>
): Promise<Total> {
  const where = and(...(match.where ?? [])) ?? sql`true`
  const pattern = containing(text.term)
  const { rows } = await db.execute<{ found: number; walked: number; rows: number }>(sql`
    select count(*) filter (where text ilike ${pattern}) as found, count(*) as walked,
      (select reltuples::bigint from pg_class where oid = ${getTableConfig(list.table).name}::regclass) as rows
    from (select ${text.in} as text from ${list.table} where ${where} order by ${list.id} desc limit ${WALK}) newest`)
  const [seen] = rows
  if (!seen) throw new Error('a count is one row')
  if (seen.walked < WALK) return { total: seen.found, total_exact: true }
  if (seen.rows > SMALL && (seen.found / seen.walked) * seen.rows > FEW)
    return { total: seen.found, total_exact: false }
  const found = await one(
    db,
    sql`select count(*) as found from ${list.table} where ${where} and ${text.in} ilike ${pattern}`
  )
  return totalOf(found, match)
}

async function one(db: Executor, query: SQL): Promise<number> {
  return (await db.execute<{ found: number }>(query)).rows[0]?.found ?? 0
}
