import { sql, type SQL } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from '../db/client.ts'

/** What every list call takes, parsed: the output of the contract's `listQuery`. */
export type ListInput<Sort extends string = string> = {
  limit: number
  offset: number
  /** One row. */
  id?: number | undefined
  search?: string | undefined
  sort_by: Sort
  sort_order: 'asc' | 'desc'
  after?: string | undefined
}

/** Rows whose `column` is one of `among`. An index on (column, sorted column) makes it quick. */
export type Among = { column: PgColumn; among: readonly (number | string)[] }

/** Which rows a query asks for: all of its parts hold. */
export type Match = {
  where?: readonly (SQL | undefined)[]
  /** Rows for which at least one of these holds; none given: no row. The newest of each value are read by index. */
  anyOf?: readonly Among[]
  /** Rows whose text contains the term, whatever its case. `in` is, letter for letter, what a trigram index is made of. */
  text?: { in: SQL | PgColumn; term: string } | undefined
  /** More values would belong into `anyOf` than are looked at: the total is a lower bound. */
  capped?: boolean
}

/** What a list is sorted by: never null. Equal rows go by id, in the same direction unless `ties` says otherwise. */
export type Sort = SQL | PgColumn | { by: SQL | PgColumn; ties: 'asc' | 'desc' }

/** A list, declared once: its pages, its CSV and "all that match" come from this. */
export type List<Q extends ListInput, Item extends { id: number }> = {
  /** Names the CSV file, and ties cursors to this list. */
  name: string
  table: PgTable
  /** Its key. */
  id: PgColumn
  sort: Record<Q['sort_by'], Sort>
  match?(db: Executor, query: Q): Match | Promise<Match>
  /** The items of these ids, in any order; ids that are gone are left out. */
  load(db: Executor, ids: number[]): Promise<Item[]>
  /** The exact total where it is kept somewhere; undefined: it has to be counted. */
  total?(db: Executor, query: Q): Promise<number | undefined>
  /** A line of the CSV where it differs from the item; its keys are the columns. */
  csv?: { columns: readonly string[]; line(item: Item): Record<string, unknown> }
}

/** Declares a list: fixes its types, and has each list answer `id`. */
export const defineList = <Q extends ListInput, Item extends { id: number }>(list: List<Q, Item>): List<Q, Item> => ({
  ...list,
  async match(db, query) {
    const match = (await list.match?.(db, query)) ?? {}
    if (query.id === undefined) return match
    // Some keys are integers, and an id may be too large for one: then there is no such row.
    return { ...match, where: [...(match.where ?? []), sql`${list.id} = ${query.id}::bigint`] }
  },
  total: async (db, query) => (query.id === undefined ? list.total?.(db, query) : undefined)
})
