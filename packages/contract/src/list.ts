/** The one shape of every list: what a list call takes, and what it answers. */
import { z } from 'zod'
import { message } from './form-messages.ts'
import { Id, Search, queryInt } from './shapes.ts'

export const MAX_LIMIT = 10_000

export const Paging = z.object({
  limit: queryInt(1, MAX_LIMIT, message('limit_range', { min: 1, max: MAX_LIMIT })).default(10),
  offset: queryInt(0, 999_999_999, message('offset_range', { min: 0 })).default(0)
})

/** A place in a list, as a reply's `next` gave it. Opaque: only the list that gave it can read it. */
const Cursor = z.string().max(500).optional()

type Sorts = readonly [string, ...string[]]
type Direction = 'asc' | 'desc'

const sortable = <const S extends Sorts>(sort: S, order: Direction) =>
  Paging.extend({
    /** One row, wherever the list has it; none where it is gone or does not match. */
    id: Id.optional(),
    search: Search,
    sort_by: z
      .enum(sort, { error: message('sort_by_columns', { columns: sort.join(', ') }) })
      .default(sort[0] as never),
    sort_order: z.enum(['asc', 'desc'], { error: message('sort_order_words') }).default(order),
    after: Cursor,
    format: z.enum(['json', 'csv'], { error: message('format_words') }).default('json')
  })

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the inferred result is made of it
const filtered = <const S extends Sorts, F extends z.ZodRawShape>(sort: S, order: Direction, filters: F) =>
  sortable(sort, order).extend(filters)

type ListOptions<S> = {
  /** The columns that the list can be sorted by; the first one is the standard. */
  sort: S
  /** Which way the standard goes. */
  order?: Direction
}

/**
 * The query of a list: paging by number (`limit`, `offset`) or by key (`after`), sorting, a search, the list's own
 * filters; `id` asks for one row. `format=csv` streams everything that matches as CSV instead of a page.
 */
export function listQuery<const S extends Sorts>(options: ListOptions<S>): ReturnType<typeof sortable<S>>
export function listQuery<const S extends Sorts, F extends z.ZodRawShape>(
  options: ListOptions<S> & { filters: F }
): ReturnType<typeof filtered<S, F>>
export function listQuery({
  sort,
  order = 'desc',
  filters
}: ListOptions<Sorts> & { filters?: z.ZodRawShape }): z.ZodObject {
  return filters ? filtered(sort, order, filters) : sortable(sort, order)
}

/** `total` is the exact number of rows where `total_exact`; otherwise there are more than it says. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    total: z.number(),
    total_exact: z.boolean(),
    limit: z.number(),
    offset: z.number(),
    /** Pass it as `after` for the rows that follow; null at the end. */
    next: z.string().nullable()
  })

export type Page<T> = {
  data: T[]
  total: number
  total_exact: boolean
  limit: number
  offset: number
  next: string | null
}
