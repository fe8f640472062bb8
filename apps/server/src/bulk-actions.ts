import { message, routes, type CodeAct, type CodeKind, type OrderTask } from '@netlet/contract'
import { inArray } from './infra/db/drizzle.ts'
import type { z } from 'zod'
import type { BulkActions, BulkWork } from './domains/bulk/index.ts'
import { creditOrder, moveRunRow, noteOfRun, planTask, requestTaskIn } from './domains/delivery/index.ts'
import { guardAddressSearch, orderLabels, orderList, planRemoval, removeOrderIn } from './domains/orders/index.ts'
import { hasOpenMoney } from './domains/inbox/index.ts'
import { deliveryRefusalSql, deliveryRefusal, ordersPaidBy } from './domains/payments/index.ts'
import {
  askPlatformIn,
  couponList,
  deleteGiftCardIn,
  giftCardList,
  levelCodeList,
  planGiftCardRemoval
} from './domains/rewards/index.ts'
import { coupons, giftCards, levelCodes } from './domains/rewards/tables.ts'
import { matchingIds } from './infra/list/index.ts'
import { formRefusal } from './infra/refusals.ts'
import { ok, type Result } from './infra/result.ts'

type Rows = Pick<BulkWork, 'open' | 'ids' | 'labels'>

/** Longer messages are replaced in the reply. */
const LONGEST_MESSAGE = 200

/** Parses a list's query strictly. An ignored unknown key would select more rows than meant. */
function parseQuery<Q extends z.ZodObject>(list: { query?: Q }, given: object): Result<z.output<Q>> {
  const parsed = list.query?.strict().safeParse(given)
  if (parsed?.success) return ok(parsed.data as z.output<Q>)
  const errors = (parsed?.error.issues ?? []).map(issue => {
    const where = ['selection', 'query', ...issue.path].join('.')
    // The message contains all the unknown keys.
    return [where, issue.message.length > LONGEST_MESSAGE ? message('unknown_key') : issue.message] as const
  })
  return formRefusal(Object.fromEntries(errors))
}

const orderRows: Rows = {
  async open(ctx, by, given) {
    const query = parseQuery(routes.orders.list, given)
    return query.ok ? guardAddressSearch(ctx, by, query.data) : query
  },
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

const couponRows: Rows = {
  async ids(db, given, limit) {
    const query = parseQuery(routes.rewards.coupons, given)
    return query.ok ? ok(await matchingIds(db, couponList(), query.data, { limit })) : query
  },
  async labels(db, ids) {
    const found = await db.select({ id: coupons.id, label: coupons.code }).from(coupons).where(inArray(coupons.id, ids))
    return new Map(found.map(({ id, label }) => [id, label]))
  }
}

const levelCodeRows: Rows = {
  async ids(db, given, limit) {
    const query = parseQuery(routes.rewards.levelCodes, given)
    return query.ok ? ok(await matchingIds(db, levelCodeList({ withCodes: true }), query.data, { limit })) : query
  },
  async labels(db, ids) {
    const found = await db
      .select({ id: levelCodes.id, label: levelCodes.code })
      .from(levelCodes)
      .where(inArray(levelCodes.id, ids))
    return new Map(found.map(({ id, label }) => [id, label || `#${id}`]))
  }
}

const codeRows: Record<CodeKind, Rows> = { coupon: couponRows, gift_card: giftCardRows, level_code: levelCodeRows }

const platformRows = (kind: CodeKind, act: CodeAct): BulkWork => ({
  ...codeRows[kind],
  run: (unit, id) => askPlatformIn(unit, { kind, id }, act)
})

const taskRows = (task: OrderTask): BulkWork => ({
  ...orderRows,
  plan: (db, ids, { by, now }) => planTask(db, ids, task, { now, held: deliveryRefusalSql(by, now) }),
  run: (unit, id, run) => requestTaskIn(unit, id, task, { ...asked, note: noteOfRun(run) })
})

const asked = { userId: null, deliveryRefusal }

/** Each bulk action, provided by the domain that owns the rows. */
export const bulkActions: BulkActions = {
  'order.change': taskRows('change'),
  'order.reset': taskRows('reset'),
  'order.check': taskRows('check'),
  'order.deliver': taskRows('deliver'),
  'order.delete': {
    ...orderRows,
    plan: (db, ids) => planRemoval(db, ids, { hasOpenMoney }),
    run: (unit, id) => removeOrderIn(unit, id, { hasOpenMoney })
  },
  'order.leave_server': { ...orderRows, run: moveRunRow },
  'order.credit_outage': { ...orderRows, run: creditOrder },
  'gift_card.delete': { ...giftCardRows, plan: planGiftCardRemoval, run: deleteGiftCardIn },
  'coupon.check': platformRows('coupon', 'check'),
  'coupon.create_there': platformRows('coupon', 'create'),
  'gift_card.check': platformRows('gift_card', 'check'),
  'gift_card.create_there': platformRows('gift_card', 'create'),
  'level_code.check': platformRows('level_code', 'check'),
  'level_code.create_there': platformRows('level_code', 'create')
}
