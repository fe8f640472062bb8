import type { Refusal } from '@netlet/contract'
import { z } from 'zod'
import { fieldRefusal } from '../refusals.ts'
import { sql, type SQL } from '../db/drizzle.ts'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from '../db/client.ts'

/** Where a page ended: the sort value as PostgreSQL prints it, and the row's id. */
export type Place = { key: string; id: number }

const Parts = z.tuple([z.string(), z.string(), z.enum(['asc', 'desc']), z.string(), z.int().positive()])

/** The cursor of a place: opaque to clients, valid for one list in one order. */
export function writeCursor(list: string, { sort_by, sort_order }: ListInput, { key, id }: Place): string {
  return Buffer.from(JSON.stringify([list, sort_by, sort_order, key, id])).toString('base64url')
}

/** The place of a cursor; undefined if this list in this order did not write it. */
export function readCursor(list: string, { sort_by, sort_order }: ListInput, cursor: string): Place | undefined {
  const parsed = Parts.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()))
  if (!parsed.success) return undefined
  const [ofList, by, order, key, id] = parsed.data
  return ofList === list && by === sort_by && order === sort_order ? { key, id } : undefined
}

export const badCursor = (): Refusal => fieldRefusal('after', 'bad_cursor')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The parsed input of every list route: the output of the contract's `listQuery`. */
export type ListInput<Sort extends string = string> = {
  limit: number
  offset: number
  id?: number | undefined
  search?: string | undefined
  sort_by: Sort
  sort_order: 'asc' | 'desc'
  after?: string | undefined
}

/** Rows whose `column` is one of `among`. An index on (column, sorted column) makes this fast. */
/** `column`: an expression is a text. */
export type Among = { column: PgColumn | SQL; among: readonly (number | string)[] }

/** The rows that a query selects. All parts must hold. */
export type Match = {
  where?: readonly (SQL | undefined)[]
  /** At least one of these must hold; an empty array matches no row. The first rows of each value are read by index. */
  anyOf?: readonly Among[]
  /**
   * Rows whose text contains the term, case-insensitively. `in` must equal the expression of the trigram index exactly,
   * or `found` is the same condition by indexes.
   */
  text?: { in: SQL | PgColumn; term: string; found?: SQL } | undefined
  /** The search resolved to more values than `anyOf` holds, so the total is a lower bound. */
  capped?: boolean
}

/** What a list is sorted by; never null. Equal rows go by id, in the same direction unless `ties` says otherwise. */
export type Sort = SQL | PgColumn | { by: SQL | PgColumn; ties: 'asc' | 'desc' }

/** A list, declared once for its pages, its CSV and "all that match". */
export type List<Q extends ListInput, Item extends { id: number }> = {
  /** Names the CSV file, and ties cursors to this list. */
  name: string
  table: PgTable
  id: PgColumn
  sort: Record<Q['sort_by'], Sort>
  match?(db: Executor, query: Q): Match | Promise<Match>
  /** The items of these ids, in any order, without removed ones. */
  load(db: Executor, ids: number[]): Promise<Item[]>
  /** The exact total if it is stored somewhere; undefined if it must be counted. */
  total?(db: Executor, query: Q): Promise<number | undefined>
  /** A line of the CSV if it differs from the item. Its keys are the columns. */
  csv?: { columns: readonly string[]; line(item: Item): Record<string, unknown> }
}

/** Declares a list: infers its types, and adds the filter by `id`. */
export const defineList = <Q extends ListInput, Item extends { id: number }>(list: List<Q, Item>): List<Q, Item> => ({
  ...list,
  async match(db, query) {
    const match = (await list.match?.(db, query)) ?? {}
    if (query.id === undefined) return match
    // Some keys are integers. The cast makes a larger id match no row.
    return { ...match, where: [...(match.where ?? []), sql`${list.id} = ${query.id}::bigint`] }
  },
  total: async (db, query) => (query.id === undefined ? list.total?.(db, query) : undefined)
})
