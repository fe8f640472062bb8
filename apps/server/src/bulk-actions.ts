import { refuse, routes, type GiftCard, type Order, type Page } from '@netlet/contract'
import { inArray } from 'drizzle-orm'
import type { z } from 'zod'
import type { BulkActions, BulkWork } from './domains/bulk/index.ts'
import { requestTaskIn } from './domains/delivery/index.ts'
import { listOrders, removeOrderIn } from './domains/orders/index.ts'
import { orders } from './domains/orders/tables.ts'
import { deleteGiftCardIn, listGiftCards } from './domains/rewards/index.ts'
import { giftCards } from './domains/rewards/tables.ts'
import { ok, type Result } from './infra/result.ts'

type Rows = Pick<BulkWork, 'ids' | 'labels'>
type Range = { limit: number; offset: number }

/** Rows that are read at once. */
const PAGE = 10_000

/** A list's query, as the list itself would read it. What it does not know would match more than was meant. */
function parseQuery<Q extends z.ZodObject>(list: { query?: Q }, given: object): Result<z.output<Q>> {
  const parsed = list.query?.strict().safeParse(given)
  if (parsed?.success) return ok(parsed.data as z.output<Q>)
  const issues = parsed?.error.issues ?? []
  const errors = Object.fromEntries(
    issues.map(({ path, message }) => [['selection', 'query', ...path].join('.'), message])
  )
  return refuse('invalid', { data: { errors } })
}

/** Reads a list to its end, or until there are `limit` rows that are meant. */
async function idsOfPages<Row extends { id: number }>(
  read: (range: Range) => Promise<Page<Row>>,
  isMeant: (row: Row) => boolean,
  limit: number
): Promise<number[]> {
  const ids: number[] = []
  for (let offset = 0; ; offset += PAGE) {
    const { data } = await read({ limit: PAGE, offset })
    for (const row of data) if (isMeant(row) && ids.length < limit) ids.push(row.id)
    if (data.length < PAGE || ids.length >= limit) return ids
  }
}

const orderRows: Rows = {
  async ids(db, given, limit) {
    const query = parseQuery(routes.orders.list, given)
    if (!query.ok) return query
    const { search, order_id, product_name, username, product_type, pay_status, state, problem } = query.data
    const filter = {
      userId: null,
      search,
      orderId: order_id,
      productName: product_name,
      username,
      collection: product_type,
      state,
      paid: pay_status === undefined ? undefined : pay_status === '1'
    }
    const isMeant = (order: Order) => problem === undefined || (order.pay_status === 1 && order.delivery_num === 0)
    return ok(await idsOfPages(range => listOrders(db, { ...filter, ...range }, new Date()), isMeant, limit))
  },
  async labels(db, ids) {
    const found = await db.select({ id: orders.id, label: orders.publicId }).from(orders).where(inArray(orders.id, ids))
    return new Map(found.map(({ id, label }) => [id, label]))
  }
}

const giftCardRows: Rows = {
  async ids(db, given, limit) {
    const query = parseQuery(routes.rewards.giftCards, given)
    if (!query.ok) return query
    const { search, is_exchanged } = query.data
    const isMeant = (card: GiftCard) => is_exchanged === undefined || card.is_exchanged === (is_exchanged === '1')
    return ok(await idsOfPages(range => listGiftCards(db, { search, ...range }), isMeant, limit))
  },
  async labels(db, ids) {
    const found = await db
      .select({ id: giftCards.id, label: giftCards.code })
      .from(giftCards)
      .where(inArray(giftCards.id, ids))
    return new Map(found.map(({ id, label }) => [id, label]))
  }
}

/** What each bulk action does, put together from the domains that own the rows. */
export const bulkActions: BulkActions = {
  'order.change': { ...orderRows, run: (unit, id) => requestTaskIn(unit, id, 'change', null) },
  'order.reset': { ...orderRows, run: (unit, id) => requestTaskIn(unit, id, 'reset', null) },
  'order.check': { ...orderRows, run: (unit, id) => requestTaskIn(unit, id, 'check', null) },
  'order.deliver': { ...orderRows, run: (unit, id) => requestTaskIn(unit, id, 'deliver', null) },
  'order.delete': { ...orderRows, run: removeOrderIn },
  'gift_card.delete': { ...giftCardRows, run: deleteGiftCardIn }
}
