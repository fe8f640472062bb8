import type { Page } from '@netlet/contract'
import { type Executor, sqlState } from '../db/client.ts'
import { ok, type Result } from '../result.ts'
import { countMatching, type Total } from './count.ts'
import { badCursor, readCursor, writeCursor, type Place } from './cursor.ts'
import type { List, ListInput, Match } from './list.ts'
import { orderOf, selectIds } from './select-ids.ts'

/** A page of a list, as the wire has it. Refuses a cursor that this list did not give ('invalid'). */
export async function paginate<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q
): Promise<Result<Page<Item>>> {
  const match = (await list.match?.(db, query)) ?? {}
  const batch = await readBatch(db, list, query, match)
  if (!batch.ok) return batch
  const { items, last, read } = batch.data
  const { limit, offset } = query
  const total = await totalOf(db, list, query, match, { read, ended: last === null })
  return ok({ data: items, ...total, limit, offset, next: last && writeCursor(list.name, query, last) })
}

/** What a batch is: its items, how many ids were read, and the place to go on from (null: this was the end). */
export type Batch<Item> = { items: Item[]; read: number; last: Place | null }

/** `query.limit` items from the query's cursor (or offset) on. */
export async function readBatch<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q,
  match: Match
): Promise<Result<Batch<Item>>> {
  const after = query.after === undefined ? undefined : readCursor(list.name, query, query.after)
  if (query.after !== undefined && !after) return badCursor()
  const { limit } = query
  const source = { table: list.table, id: list.id, order: orderOf(list, query), match }
  let places: Place[]
  try {
    places = await selectIds(db, source, { after, offset: after ? 0 : query.offset, limit: limit + 1 })
  } catch (error) {
    // A forged cursor whose key is no value of the sorted column's type.
    if (after && sqlState(error)?.startsWith('22')) return badCursor()
    throw error
  }
  const shown = places.slice(0, limit)
  const loaded =
    shown.length === 0
      ? []
      : await list.load(
          db,
          shown.map(({ id }) => id)
        )
  const byId = new Map(loaded.map(item => [item.id, item]))
  const items = shown.flatMap(({ id }) => byId.get(id) ?? [])
  return ok({ items, read: shown.length, last: places.length > limit ? (shown.at(-1) ?? null) : null })
}

async function totalOf<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q,
  match: Match,
  { read, ended }: { read: number; ended: boolean }
): Promise<Total> {
  const known = await list.total?.(db, query)
  if (known !== undefined) return { total: known, total_exact: true }
  // A page by number that reaches the end has counted already.
  if (query.after === undefined && ended && !match.capped && (read > 0 || query.offset === 0))
    return { total: query.offset + read, total_exact: true }
  const counted = await countMatching(db, list, match)
  const shown = query.after === undefined ? query.offset + read : 0
  return counted.total_exact ? counted : { ...counted, total: Math.max(counted.total, Math.min(shown, 10_000)) }
}
