import { pipeline, Readable } from 'node:stream'
import type { Page, Refusal, ReplyOf, Route } from '@netlet/contract'
import { stringify } from 'csv-stringify'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../context.ts'
import type { Executor } from '../db/client.ts'
import { type Call, type Mount, SENT, type WhoCalls } from '../http/mount.ts'
import { ok, type Result } from '../result.ts'
import { traceExport } from '../traced-reads.ts'
import { type List, type ListInput, type Match, writeCursor } from './cursor.ts'
import { countRows, fromCursor, loadInOrder, paginate, readBatch } from './paginate.ts'
import { allIds, orderOf } from './select-ids.ts'

const BATCH = 1000

export type CsvFile = { filename: string; content: Readable }

/**
 * Everything that a list's query matches, as CSV in the list's order, without `limit` and `offset`. Each row appears
 * once even if it changes in the meantime. Rows are read in batches to bound memory; unless the order is by id, all ids
 * are read first. Refuses what `paginate` refuses.
 * @param columns if the list has none of its own
 */
export async function csvOf<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q,
  { columns = [], now }: { columns?: readonly string[]; now: Date }
): Promise<Result<CsvFile>> {
  const match = (await list.match?.(db, query)) ?? {}
  const isById = orderOf(list, query).byId
  const batches = isById ? batchesByKey(db, list, query, match) : batchesOfIds(db, list, query, match)
  // The first batch is read before anything is sent, so that a failure can still be the reply.
  const { value: first } = await batches.next()
  if (first && !first.ok) return first
  const csv = writer(list.csv?.columns ?? columns)
  // A client that leaves ends the reading. A failure cuts the reply short, which the client notices.
  pipeline(Readable.from(lines(list, first?.data ?? [], batches)), csv, () => {})
  return ok({ filename: `${list.name}_${now.toISOString().slice(0, 19).replaceAll(':', '-')}.csv`, content: csv })
}

/** A CSV file from rows in memory, for data that has no list. */
export function csvFile(
  filename: string,
  columns: readonly string[],
  rows: readonly Record<string, string | number>[]
): CsvFile {
  const content = writer(columns)
  pipeline(Readable.from(rows), content, () => {})
  return { filename, content }
}

const writer = (columns: readonly string[]) =>
  stringify({
    header: true,
    columns: [...columns],
    // A spreadsheet would run a name that begins with '=' as a formula.
    escape_formulas: true,
    record_delimiter: 'windows',
    // The library would quote only the whole delimiter, but either character ends a line for some readers.
    quoted_match: /[\r\n]/
  })

/** Without this mark a spreadsheet reads Chinese text in its own code page. */
const BYTE_ORDER_MARK = '\ufeff'

export async function sendCsv(reply: FastifyReply, { filename, content }: CsvFile): Promise<void> {
  // A program, which sends an API key, would take the mark for a part of the first column's name.
  if (!reply.request.headers.authorization) content.unshift(BYTE_ORDER_MARK)
  await reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${filename}"`)
    .header('cache-control', 'no-store')
    .send(content)
}

type Batches<Item> = AsyncGenerator<Result<Item[]>, void>

/** Ids never change, so no row is skipped or repeated. */
async function* batchesByKey<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q,
  match: Match
): Batches<Item> {
  for (let { after } = query; ;) {
    const batch = await readBatch(db, list, { ...query, limit: BATCH, offset: 0, after }, match)
    yield batch.ok ? ok(batch.data.items) : batch
    if (!batch.ok || !batch.data.last) return
    after = writeCursor(list.name, query, batch.data.last)
  }
}

/** A changed sort value would skip or repeat a row, so all ids are read first. */
async function* batchesOfIds<Q extends ListInput, Item extends { id: number }>(
  db: Executor,
  list: List<Q, Item>,
  query: Q,
  match: Match
): Batches<Item> {
  const source = { table: list.table, id: list.id, order: orderOf(list, query), match }
  const ids = await fromCursor(list.name, query, after => allIds(db, source, after))
  if (!ids.ok) yield ids
  else
    for (let from = 0; from < ids.data.length; from += BATCH)
      yield ok(await loadInOrder(db, list, ids.data.slice(from, from + BATCH)))
}

async function* lines<Q extends ListInput, Item extends { id: number }>(
  list: List<Q, Item>,
  first: Item[],
  rest: Batches<Item>
): AsyncGenerator<Record<string, unknown>> {
  const line = (item: Item) => cellsOf(list.csv ? list.csv.line(item) : item)
  for (const item of first) yield line(item)
  for await (const batch of rest) {
    if (!batch.ok) throw new Error('a list refused its own cursor')
    for (const item of batch.data) yield line(item)
  }
}

const cellsOf = (line: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(line).map(([name, value]) => [name, cellOf(value)]))

function cellOf(value: unknown): string | number | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' || typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(cellOf).join('; ')
  const { name } = value as { name?: unknown }
  return typeof name === 'string' ? name : JSON.stringify(value)
}

type Query = ListInput & { format: 'json' | 'csv' }
type ItemOf<R> = ReplyOf<R> extends { data: (infer Item extends { id: number })[] } ? Item : never

/**
 * Adds a list's route: a page as JSON, or everything that matches as a file for `format=csv`, with the same access.
 * @param listFor the list that this caller sees
 * @param before runs first, for example to write an audit entry; a refusal becomes the reply
 */
export function mountList<R extends Route>(
  mount: Mount,
  ctx: Pick<AppContext, 'db' | 'now' | 'jobs' | 'changes'>,
  route: R,
  listFor: (call: Call<R, WhoCalls<R>>) => List<never, ItemOf<R>>,
  before: (call: Call<R, WhoCalls<R>>) => Promise<Refusal | null> = async () => null
): void {
  const columns = columnsOf(route)
  mount(route, async call => {
    const refused = await before(call)
    if (refused) return refused
    const list = listFor(call) as List<Query, ItemOf<R>>
    const query = call.query as Query
    if (route.exports && query.format === 'csv')
      await traceExport(ctx, call.caller, route.exports, await ctx.db.readLong(db => countRows(db, list, query)))
    return (await answerList(ctx, list, query, { columns, reply: call.reply })) as never
  })
}

/** Answers a list request with a page, or with a file if the query asks for it. */
export async function answerList<Q extends Query, Item extends { id: number }>(
  ctx: Pick<AppContext, 'db' | 'now'>,
  list: List<Q, Item>,
  query: Q,
  { columns, reply }: { columns: readonly string[]; reply: FastifyReply }
): Promise<Result<Page<Item>> | typeof SENT> {
  if (query.format !== 'csv') return ctx.db.readLong(db => paginate(db, list, query))
  const file = await ctx.db.readLong(db => csvOf(db, list, query, { columns, now: ctx.now() }))
  if (!file.ok) return file
  await sendCsv(reply, file.data)
  return SENT
}

/** The contract's fields of a list's items. The version is only for forms. */
export function columnsOf(route: Route): string[] {
  const data = route.reply instanceof z.ZodObject ? (route.reply.shape['data'] as unknown) : undefined
  const item = data instanceof z.ZodArray ? (data.element as unknown) : undefined
  if (!(item instanceof z.ZodObject)) throw new Error(`${route.path} is not a list`)
  return Object.keys(item.shape).filter(name => name !== 'version')
}
