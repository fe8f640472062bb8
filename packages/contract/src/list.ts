/** The shape of every list: its query and its reply. */
import { z } from 'zod'
import { message } from './form-messages.ts'
import { Id, Search, queryInt } from './shapes.ts'

export const MAX_LIMIT = 10_000

export const Paging = z.object({
  limit: queryInt(1, MAX_LIMIT, message('limit_range', { min: 1, max: MAX_LIMIT })).default(10),
  offset: queryInt(0, 999_999_999, message('offset_range', { min: 0 })).default(0)
})

/** A position in a list, from a reply's `next`. Opaque; valid only for the same list. */
const Cursor = z.string().max(500).optional()

type Sorts = readonly [string, ...string[]]
type Direction = 'asc' | 'desc'

const sortable = <const S extends Sorts>(sort: S, order: Direction) =>
  Paging.extend({
    /** A single row, on any page; empty if it is gone or does not match. */
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
  /** The sortable columns; the first is the default. */
  sort: S
  /** The default direction. */
  order?: Direction
}

/**
 * The query of a list: paging by number (`limit`, `offset`) or key (`after`), sorting, search and the list's own
 * filters; `id` selects one row. `format=csv` streams all matching rows as CSV.
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

/** `total` is exact if `total_exact`; otherwise there are more rows. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    total: z.number(),
    total_exact: z.boolean(),
    limit: z.number(),
    offset: z.number(),
    /** Pass it as `after` for the next rows; null at the end. */
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
