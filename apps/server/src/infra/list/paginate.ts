import type { Page } from '@netlet/contract'
import { getTableConfig } from 'drizzle-orm/pg-core'
import { type Executor, sqlState } from '../db/client.ts'
import { and, sql, type SQL } from '../db/drizzle.ts'
import { containing } from '../db/like.ts'
import { ok, type Result } from '../result.ts'
import { badCursor, type List, type ListInput, type Match, type Place, readCursor, writeCursor } from './cursor.ts'
import { eachOf, groupsOf, orderOf, selectIds, WALK } from './select-ids.ts'

/** A page of a list as sent to clients. Refuses a cursor of another list or order ('bad_cursor'). */
export async function paginate<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q
): Promise<Result<Page<Item>>> {
  const [match, known] = await Promise.all([list.match?.(db, query) ?? {}, list.total?.(db, query)])
  const batch = await readBatch(db, list, query, match, known === undefined ? countQuery(list, match) : undefined)
  if (!batch.ok) return batch
  const { items, last, read, found } = batch.data
  const { limit, offset } = query
  const total = async (): Promise<Total> => {
    if (known !== undefined) return { total: known, total_exact: true }
    // A page by number that reaches the end already knows the total.
    if (query.after === undefined && last === null && !match.capped && (read > 0 || offset === 0))
      return { total: offset + read, total_exact: true }
    const counted = found === null ? await countMatching(db, list, match) : totalOf(found, match)
    if (counted.total_exact || query.after !== undefined) return counted
    return { total: Math.max(counted.total, Math.min(offset + read, CAP)), total_exact: false }
  }
  return ok({ data: items, ...(await total()), limit, offset, next: last && writeCursor(list.name, query, last) })
}

/** How many rows a query matches, exact up to 10,000. */
export async function countRows<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q
): Promise<number> {
  const page = await paginate(db, list, { ...query, limit: 1, offset: 0, after: undefined })
  return page.ok ? page.data.total : 0
}

export type Batch<Item> = {
  items: Item[]
  /** How many ids were read. Rows removed in the meantime are missing from the items. */
  read: number
  /** Where the next batch starts; null at the end. */
  last: Place | null
  /** The result of `total`; null if there was no such query or no row. */
  found: number | null
}

/** `query.limit` items from the query's cursor (or offset) on. */
export async function readBatch<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q,
  match: Match,
  total?: SQL
): Promise<Result<Batch<Item>>> {
  const { limit } = query
  const source = { table: list.table, id: list.id, order: orderOf(list, query), match }
  const found = await fromCursor(list.name, query, after =>
    selectIds(db, source, {
      after,
      offset: after ? 0 : query.offset,
      limit: limit + 1,
      ...(total ? { total } : {})
    })
  )
  if (!found.ok) return found
  const places = found.data
  const shown = places.slice(0, limit)
  return ok({
    items: await loadInOrder(
      db,
      list,
      shown.map(({ id }) => id)
    ),
    read: shown.length,
    last: places.length > limit ? (shown.at(-1) ?? null) : null,
    found: places[0]?.total ?? null
  })
}

/** Reads from the query's cursor on, if any. Refuses a cursor of another list or order. */
export async function fromCursor<T>(
  list: string,
  query: ListInput,
  read: (after: Place | undefined) => Promise<T>
): Promise<Result<T>> {
  const after = query.after === undefined ? undefined : readCursor(list, query, query.after)
  if (query.after !== undefined && !after) return badCursor()
  try {
    return ok(await read(after))
  } catch (error) {
    // A forged cursor whose key does not fit the sorted column's type.
    if (after && sqlState(error)?.startsWith('22')) return badCursor()
    throw error
  }
}

/** The items of these ids in the same order, without removed ones. */
export async function loadInOrder<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  ids: number[]
): Promise<Item[]> {
  if (ids.length === 0) return []
  const byId = new Map((await list.load(db, ids)).map(item => [item.id, item]))
  return ids.flatMap(id => byId.get(id) ?? [])
}

/** Totals up to this are exact. */
const CAP = 10_000
/** A text with fewer expected rows is counted by its index; a more common one only in a small table. */
const FEW = 3000
const SMALL = 20_000

type Total = { total: number; total_exact: boolean }

/** Counts up to one more than the cap by indexes only; undefined for a text search (see `countText`). */
function countQuery<Q extends ListInput, Item extends { id: number }>(
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
const totalOf = (found: number, { capped = false }: Match): Total => ({
  total: Math.min(found, CAP),
  total_exact: found <= CAP && !capped
})

/** How many rows match: exact up to the cap, a lower bound beyond it. */
async function countMatching<Q extends ListInput, Item extends { id: number }>(
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

/**
 * The ids of all rows that a list's query matches, in its order and without paging, for "all that match".
 * @param options.limit maximum number of ids; ask for one more than allowed to detect too many
 */
export async function matchingIds<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q,
  { limit }: { limit: number }
): Promise<number[]> {
  const match = (await list.match?.(db, query)) ?? {}
  const places = await selectIds(
    db,
    { table: list.table, id: list.id, order: orderOf(list, query), match },
    { offset: 0, limit }
  )
  return places.map(({ id }) => id)
}
