import { and, or, sql, type SQL } from '../db/drizzle.ts'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from '../db/client.ts'
import { containing } from '../db/like.ts'
import type { Among, List, ListInput, Match, Place, Sort } from './cursor.ts'

/** How many rows are scanned in the list's order before the text index is used. */
export const WALK = 2000

export type Order = { by: SQL | PgColumn; dir: SQL; tiesDir: SQL; byId: boolean; desc: boolean; tiesDesc: boolean }

export function orderOf<Q extends ListInput>(list: Pick<List<Q, never>, 'id' | 'sort'>, query: Q): Order {
  const sort: Sort = list.sort[query.sort_by as Q['sort_by']]
  const { by, ties } = 'ties' in sort ? sort : { by: sort, ties: query.sort_order }
  const [desc, tiesDesc] = [query.sort_order === 'desc', ties === 'desc']
  return { by, desc, tiesDesc, dir: direction(desc), tiesDir: direction(tiesDesc), byId: by === list.id }
}

const direction = (desc: boolean) => (desc ? sql`desc` : sql`asc`)

type Source = { table: PgTable; id: PgColumn; order: Order; match: Match }
type Range = { after?: Place | undefined; offset: number; limit: number }
/** A row's place, and the result of `total` if it was requested. */
type Found = Place & { total: number | null }

/**
 * The places of a range of rows in the list's order. Reads only ids and keys, so that an index suffices.
 * @param range.total a query of one number that runs along
 */
export async function selectIds(db: Executor, source: Source, range: Range & { total?: SQL }): Promise<Found[]> {
  const { match, order } = source
  if (match.anyOf && groupsOf(match.anyOf).length === 0) return []
  // A scan finds common words fast, the index rare ones. A wrong guess of the planner would read the whole table.
  if (match.text && !match.anyOf && order.byId && range.offset + range.limit <= WALK / 4) {
    const walked = await run(db, walkedIds(source, match.text, range))
    return walked.length === range.limit ? walked : run(db, indexedIds(source, match.text, range))
  }
  return run(db, idsInOrder(source, range))
}

async function run(db: Executor, query: SQL): Promise<Found[]> {
  return (await db.execute<Found>(query)).rows
}

/** All ids in the list's order from a place on. Read as one text: a row for each takes ten times the memory. */
export async function allIds(db: Executor, source: Source, after: Place | undefined): Promise<number[]> {
  const { match } = source
  if (match.anyOf && groupsOf(match.anyOf).length === 0) return []
  const ids = idsInOrder(source, { after, offset: 0, limit: Number.MAX_SAFE_INTEGER })
  const { rows } = await db.execute<{ ids: string | null }>(
    sql`select string_agg(id::text, ',') as ids from (${ids}) listed`
  )
  return rows[0]?.ids?.split(',').map(Number) ?? []
}

/** One statement: the first rows of each value of `anyOf`, then the first of all of these. */
function idsInOrder({ table, id, order, match }: Source, range: Range & { total?: SQL }): SQL {
  const { after, offset, limit, total } = range
  const all = conditions({ match, after, order, id })
  const first = (condition?: SQL) =>
    sql`select ${id} as id, ${order.by} as sorted from ${table} where ${and(...all, condition) ?? sql`true`}
      order by ${order.by} ${order.dir}, ${id} ${order.tiesDir}`
  const [only, ...more] = groupsOf(match.anyOf)
  // The rows of a single value are already in order.
  const plain = !only || (more.length === 0 && only.among.length === 1)
  const found = plain
    ? sql`${first(only && sql`${only.column} = ${only.among[0]}`)} offset ${offset} limit ${limit}`
    : sql.join(
        [only, ...more].map(
          each => sql`(${eachOf(each, condition => sql`${first(condition)} limit ${offset + limit}`)})`
        ),
        sql` union `
      )
  return sql`select id, sorted::text as key, ${total ? sql`(${total})` : sql`null`} as total from (${found}) found
    order by sorted ${order.dir}, id ${order.tiesDir} ${plain ? sql`` : sql`offset ${offset}`} limit ${limit}`
}

function walkedIds({ table, id, order, match }: Source, text: NonNullable<Match['text']>, range: Range): SQL {
  const all = conditions({ match: { ...match, text: undefined }, after: range.after, order, id })
  return sql`select id, id::text as key, null as total from (
      select ${id} as id, ${text.in} as text from ${table} where ${and(...all) ?? sql`true`}
      order by ${id} ${order.dir} limit ${WALK}
    ) walked where text ilike ${containing(text.term)} order by id ${order.dir} offset ${range.offset} limit ${range.limit}`
}

function indexedIds({ table, id, order, match }: Source, text: NonNullable<Match['text']>, range: Range): SQL {
  const all = conditions({ match: { ...match, text }, after: range.after, order, id })
  // Materialized, because otherwise the limit could make the planner scan the key.
  return sql`with found as materialized (select ${id} as id from ${table} where ${and(...all) ?? sql`true`})
    select id, id::text as key, null as total from found order by id ${order.dir} offset ${range.offset} limit ${range.limit}`
}

/** The groups of `anyOf` with each value once, without empty groups. */
export const groupsOf = (anyOf: Match['anyOf'] = []): Among[] =>
  anyOf
    .map(({ column, among: values }) => ({ column, among: [...new Set(values)] }))
    .filter(({ among: values }) => values.length > 0)

const typeOf = (column: Among['column']): string => ('getSQLType' in column ? column.getSQLType() : 'text')

/** A subquery for each value, without a join if there is only one. */
export function eachOf({ column, among }: Among, subquery: (condition: SQL) => SQL): SQL {
  if (among.length === 1) return subquery(sql`${column} = ${among[0]}`)
  const type = sql.raw(typeOf(column))
  return sql`select each.* from unnest(${sql.param([...among])}::${type}[]) value
    cross join lateral (${subquery(sql`${column} = value`)}) each`
}

function conditions(options: {
  match: Match
  after?: Place | undefined
  order: Order
  id: PgColumn
}): (SQL | undefined)[] {
  const { match, after, order, id } = options
  const { text, where = [] } = match
  return [
    ...where,
    text && (text.found ?? sql`${text.in} ilike ${containing(text.term)}`),
    after ? beyond(order, id, after) : undefined
  ]
}

/** Rows after a place. An index on (key, id) supports the row comparison. */
function beyond({ by, byId, desc, tiesDesc }: Order, id: PgColumn, after: Place): SQL {
  const than = (down: boolean) => (down ? sql`<` : sql`>`)
  if (byId) return sql`${id} ${than(desc)} ${after.id}`
  if (desc === tiesDesc) return sql`(${by}, ${id}) ${than(desc)} (${after.key}, ${after.id})`
  const orEqual = desc ? sql`<=` : sql`>=`
  return sql`${by} ${orEqual} ${after.key} and (${by} ${than(desc)} ${after.key} or ${id} ${than(tiesDesc)} ${after.id})`
}

/** The newest ids whose text contains a term, at most `limit`. It resolves a name to the few rows that it may mean. */
export async function idsByText(
  db: Executor,
  from: { table: PgTable; id: PgColumn; text: SQL | PgColumn; where?: SQL },
  term: string,
  limit: number
): Promise<number[]> {
  const order = orderOf({ id: from.id, sort: { id: from.id } }, NEWEST)
  const match = { where: [from.where], text: { in: from.text, term } }
  const found = await selectIds(db, { table: from.table, id: from.id, order, match }, { offset: 0, limit })
  return found.map(({ id }) => id)
}

export const NEWEST = { limit: 1, offset: 0, sort_by: 'id', sort_order: 'desc' } as const satisfies ListInput

/** `column` is one of `ids`, as a single parameter. */
export const among = (column: PgColumn, ids: readonly number[]): SQL =>
  sql`${column} = any(${sql.param([...ids])}::bigint[])`

/** A condition that is true if any of these holds. */
export const anyAmong = (anyOf: readonly Among[]): SQL =>
  or(
    ...anyOf.map(({ column, among: values }) => {
      return sql`${column} = any(${sql.param([...values])}::${sql.raw(typeOf(column))}[])`
    })
  ) ?? sql`false`
