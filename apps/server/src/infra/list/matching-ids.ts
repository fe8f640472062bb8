import type { Executor } from '../db/client.ts'
import type { List, ListInput } from './list.ts'
import { orderOf, selectIds } from './select-ids.ts'

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
