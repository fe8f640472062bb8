import type { Page } from '@netlet/contract'
import type { SQL } from '../db/drizzle.ts'
import { type Executor, sqlState } from '../db/client.ts'
import { ok, type Result } from '../result.ts'
import { CAP, countMatching, countQuery, totalOf, type Total } from './count.ts'
import { badCursor, readCursor, writeCursor, type Place } from './cursor.ts'
import type { List, ListInput, Match } from './list.ts'
import { orderOf, selectIds } from './select-ids.ts'

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
