import type { Page, Refusal, ReplyOf, Route } from '@netlet/contract'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../context.ts'
import { SENT, type Call, type Mount, type WhoCalls } from '../http/mount.ts'
import type { Result } from '../result.ts'
import { csvOf, sendCsv } from './csv.ts'
import type { List, ListInput } from './list.ts'
import { traceExport } from '../traced-reads.ts'
import { countRows, paginate } from './paginate.ts'

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
      await traceExport(ctx, call.caller, route.exports, await countRows(ctx.db, list, query))
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
  if (query.format !== 'csv') return paginate(ctx.db, list, query)
  const file = await csvOf(ctx.db, list, query, { columns, now: ctx.now() })
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
