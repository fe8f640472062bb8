import { routes } from '@netlet/contract'
import { inArray } from 'drizzle-orm'
import type { z } from 'zod'
import type { BulkActions, BulkWork } from './domains/bulk/index.ts'
import { creditOrder, leaveServerRow, requestTaskIn } from './domains/delivery/index.ts'
import { orderLabels, orderList, removeOrderIn } from './domains/orders/index.ts'
import { mayDeliver, ordersPaidBy } from './domains/payments/index.ts'
import { deleteGiftCardIn, giftCardList } from './domains/rewards/index.ts'
import { giftCards } from './domains/rewards/tables.ts'
import { matchingIds } from './infra/list/index.ts'
import { formRefusal } from './infra/refusals.ts'
import { ok, type Result } from './infra/result.ts'

type Rows = Pick<BulkWork, 'ids' | 'labels'>
/** A list's query, as the list itself would read it. What it does not know would match more than was meant. */
function parseQuery<Q extends z.ZodObject>(list: { query?: Q }, given: object): Result<z.output<Q>> {
  const parsed = list.query?.strict().safeParse(given)
  if (parsed?.success) return ok(parsed.data as z.output<Q>)
  const issues = parsed?.error.issues ?? []
  const errors = Object.fromEntries(
    issues.map(({ path, message }) => [['selection', 'query', ...path].join('.'), message])
  )
  return formRefusal(errors)
}

const orderRows: Rows = {
  async ids(db, given, limit, now) {
    const query = parseQuery(routes.orders.list, given)
    if (!query.ok) return query
    const list = orderList({ userId: null, now, ordersPaidBy })
    return ok(await matchingIds(db, list, query.data, { limit }))
  },
  labels: orderLabels
}

const giftCardRows: Rows = {
  async ids(db, given, limit) {
    const query = parseQuery(routes.rewards.giftCards, given)
    if (!query.ok) return query
    return ok(await matchingIds(db, giftCardList, query.data, { limit }))
  },
  async labels(db, ids) {
    const found = await db
      .select({ id: giftCards.id, label: giftCards.code })
      .from(giftCards)
      .where(inArray(giftCards.id, ids))
    return new Map(found.map(({ id, label }) => [id, label]))
  }
}

const asked = { userId: null, mayDeliver }

/** What each bulk action does, put together from the domains that own the rows. */
export const bulkActions: BulkActions = {
  'order.change': { ...orderRows, run: (unit, id) => requestTaskIn(unit, id, 'change', asked) },
  'order.reset': { ...orderRows, run: (unit, id) => requestTaskIn(unit, id, 'reset', asked) },
  'order.check': { ...orderRows, run: (unit, id) => requestTaskIn(unit, id, 'check', asked) },
  'order.deliver': { ...orderRows, run: (unit, id) => requestTaskIn(unit, id, 'deliver', asked) },
  'order.delete': { ...orderRows, run: removeOrderIn },
  'order.leave_server': { ...orderRows, run: leaveServerRow },
  'order.credit_outage': { ...orderRows, run: creditOrder },
  'gift_card.delete': { ...giftCardRows, run: deleteGiftCardIn }
}
