import { pipeline, Readable } from 'node:stream'
import { stringify } from 'csv-stringify'
import { and, desc, eq, inArray, isNull, lt } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { ruleNames } from '../inventory/index.ts'
import { presentOrder } from './present.ts'
import { orders } from './tables.ts'

const PAGE = 1000

const COLUMNS = [
  'id',
  'order_id',
  'shopify_order_number',
  'username',
  'email',
  'product_name',
  'variant_name',
  'product_quantity',
  'acl_names',
  'amount',
  'pay_amount',
  'pay_status',
  'state',
  'is_expired',
  'created_at',
  'expired_at',
  'proxy_num',
  'delivery_num',
  'fail_reason'
] as const

type Line = Record<(typeof COLUMNS)[number], string | number | null>

export type CsvFile = { filename: string; content: Readable }

/**
 * Orders as CSV, newest first, in pages: memory stays flat however many there are.
 * @param ids only these; undefined: all of them
 */
export async function exportOrders(ctx: Pick<AppContext, 'db' | 'now'>, ids?: number[]): Promise<CsvFile> {
  const now = ctx.now()
  const names = await ruleNames(ctx.db)
  // Read before anything is sent, so that a failure can still be answered as one.
  const first = await readPage(ctx.db, ids, undefined, names, now)
  const csv = stringify({
    header: true,
    columns: [...COLUMNS],
    // A spreadsheet would run a product's name that begins with '='.
    escape_formulas: true,
    record_delimiter: 'windows',
    // It would quote the whole delimiter only, but any part of it ends a line for some reader.
    quoted_match: /[\r\n]/
  })
  // A client that goes away ends the reading too; a failure ends the reply halfway, which the client notices.
  pipeline(Readable.from(lines(ctx.db, ids, first, names, now)), csv, () => {})
  return { filename: `orders_${now.toISOString().slice(0, 19).replaceAll(':', '-')}.csv`, content: csv }
}

async function* lines(
  db: Executor,
  ids: number[] | undefined,
  first: Line[],
  names: ReadonlyMap<number, string>,
  now: Date
): AsyncGenerator<Line> {
  for (let page = first; page.length > 0;) {
    yield* page
    if (page.length < PAGE) return
    page = await readPage(db, ids, Number(page.at(-1)?.id), names, now)
  }
}

async function readPage(
  db: Executor,
  ids: number[] | undefined,
  below: number | undefined,
  names: ReadonlyMap<number, string>,
  now: Date
): Promise<Line[]> {
  const rows = await db
    .select({ order: orders, username: users.username, email: users.email })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(
      and(
        isNull(orders.deletedAt),
        ids ? inArray(orders.id, ids) : undefined,
        below === undefined ? undefined : lt(orders.id, below)
      )
    )
    .orderBy(desc(orders.id))
    .limit(PAGE)
  return rows.map(row => {
    const order = presentOrder(row, names, now)
    return { ...order, acl_names: order.acl_names.join('; '), is_expired: order.is_expired ? 'yes' : 'no' }
  })
}
