import {
  type DeliveredIn,
  type Order,
  type OrderEventKind,
  type OrderState,
  type ProductOrders,
  EXPIRING_DAYS,
  refuse
} from '@netlet/contract'
import {
  type SQL,
  and,
  count,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  or,
  sql
} from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type List, type ListInput, type Match, among, anyAmong, defineList } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { variants } from '../catalog/tables.ts'
import { waitsForServer } from '../servers/index.ts'
import { holdsAddresses, ruleTexts } from '../inventory/index.ts'
import { levelDiscounts } from '../rewards/index.ts'
import { countKept } from './figures.ts'
import { findByOrderId, findByText, findProducts, findUsers, productsIn, type FindPorts, type Found } from './find.ts'
import { productNameColumn } from './order-mail.ts'
import { isPayable, presentOrder, type OrderWithPeople, type Viewer } from './present.ts'
import { readQuotas } from './quotas.ts'
import { isUnsettledSql } from './renew.ts'
import { expiry, listed, live, orderEvents, orders, served, undelivered } from './tables.ts'

/** States in which an order still has something to lose. The index `orders_of_variant` has the same states. */
const OPEN = [
  'placed',
  'paid',
  'delivering',
  'partly_delivered',
  'delivered',
  'failed'
] as const satisfies readonly OrderState[]

/** The open orders of a product, including variants that are no longer sold. */
export async function openOrdersOf(db: Executor, productId: number): Promise<ProductOrders> {
  // By variant ids, so that PostgreSQL reads only their part of the index.
  const sold = await db.select({ id: variants.id }).from(variants).where(eq(variants.productId, productId))
  const ids = sold.map(variant => variant.id)
  const rows = await db
    .select({ variantId: orders.variantId, state: orders.state, found: count() })
    .from(orders)
    .where(and(among(orders.variantId, ids), inArray(orders.state, [...OPEN]), isNull(orders.deletedAt)))
    .groupBy(orders.variantId, orders.state)
    .orderBy(orders.variantId)
  const sumOf = (counted: typeof rows) => {
    const of = (unpaid: boolean) =>
      counted.filter(row => (row.state === 'placed') === unpaid).reduce((sum, row) => sum + row.found, 0)
    return { unpaid: of(true), live: of(false) }
  }
  const byVariant = Map.groupBy(rows, row => row.variantId)
  return { ...sumOf(rows), variants: [...byVariant].map(([id, counted]) => ({ id, ...sumOf(counted) })) }
}

export type OrderQuery = ListInput<'id' | 'expired_at' | 'amount' | 'delivery_seconds'> & {
  order_id?: string | undefined
  product_name?: string | undefined
  /** Only in an administrator's list. */
  username?: string | undefined
  user_id?: number | undefined
  /** The id of a collection. */
  product_type?: number | undefined
  pay_status?: '0' | '1' | undefined
  state?: OrderState | undefined
  problem?: '1' | undefined
  live?: '1' | undefined
  /** A day: '2026-03-01' (UTC). */
  ends_on?: string | undefined
  /** Only in a customer's list, as the instants below. */
  expiring?: '1' | undefined
  placed_from?: string | undefined
  placed_until?: string | undefined
  placed_on?: string | undefined
  placed_in?: string | undefined
  paid_on?: string | undefined
  /** A month: '2026-03' (UTC). */
  paid_in?: string | undefined
  delivered_in?: DeliveredIn | undefined
}

/** Columns of the exported file. */
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
  'refunded_amount',
  'pay_status',
  'state',
  'is_expired',
  'created_at',
  'expired_at',
  'proxy_num',
  'delivery_num',
  'fail_reason'
] as const

type Scope = FindPorts & {
  /** Only this user's orders; null: all users' orders. */
  userId: number | null
  now: Date
  /** Only these orders. */
  ids?: readonly number[] | undefined
}

/** Orders that are not deleted, newest first. */
export const orderList = ({ userId, now, ids, ordersPaidBy }: Scope): List<OrderQuery, Order> =>
  defineList<OrderQuery, Order>({
    name: 'orders',
    table: orders,
    id: orders.id,
    sort: { id: orders.id, expired_at: expiry(orders), amount: orders.amount, delivery_seconds: deliverySeconds },
    async match(db, query) {
      const { user_id, pay_status, state, problem, ends_on } = query
      const found = await findAll(db, query, { userId, now, ordersPaidBy })
      if (user_id && userId === null) found.unshift({ anyOf: [{ column: orders.userId, among: [user_id] }] })
      if (ids) found.unshift({ anyOf: [{ column: orders.id, among: ids }] })
      return narrow(found, userId, [
        listed(orders),
        pay_status === undefined ? undefined : pay_status === '1' ? isNotNull(orders.paidAt) : isNull(orders.paidAt),
        state === undefined ? undefined : eq(orders.state, state),
        problem === undefined ? undefined : undelivered(orders),
        query.live === undefined ? undefined : live(orders),
        ends_on === undefined ? undefined : endsOn(ends_on),
        ...(userId === null ? [] : ofOwnOrders(query, now)),
        // These filters read the histories of all orders, so only administrators get them.
        ...(userId === null ? inTimes(query) : []),
        userId === null ? inDeliveries(query, now) : undefined
      ])
    },
    async load(db, shown) {
      const [rows, names, quotas] = await Promise.all([
        selectOrders(db, viewerOf(userId)).where(among(orders.id, shown)),
        ruleTexts(db),
        readQuotas(db)
      ])
      const discounts = await discountsOf(db, rows, now)
      return rows.map(row => presentOrder(row, names, { now, viewer: viewerOf(userId), quotas, discounts }))
    },
    async total(db, { limit: _l, offset: _o, sort_by, sort_order: _order, after: _after, ...filters }) {
      const isAll =
        userId === null &&
        ids === undefined &&
        sort_by !== 'delivery_seconds' &&
        Object.values(filters).every(value => value === undefined)
      return isAll ? countKept(db) : undefined
    },
    csv: { columns: COLUMNS, line: order => order }
  })

/** Served orders whose time ends on a day (UTC). The condition is a range of the index by expiry. */
const endsOn = (day: string) => sql`${served(orders)}
  and ${expiry(orders)} >= ${day}::date::timestamp at time zone 'UTC'
  and ${expiry(orders)} < (${day}::date + 1)::timestamp at time zone 'UTC'`

/** Conditions that no index serves: they read the rows of one customer. */
const ofOwnOrders = ({ expiring, placed_from, placed_until }: OrderQuery, now: Date) => [
  expiring === undefined ? undefined : endsSoon(now),
  placed_from === undefined ? undefined : gte(orders.createdAt, new Date(placed_from)),
  placed_until === undefined ? undefined : lt(orders.createdAt, new Date(placed_until))
]

/** Renewing is urgent: the proxies stop within `EXPIRING_DAYS`, or have stopped and their addresses are still held. */
const endsSoon = (now: Date) =>
  or(
    and(served(orders), lte(orders.expiredAt, new Date(now.getTime() + EXPIRING_DAYS * DAY))),
    and(eq(orders.state, 'expired'), gt(orders.graceUntil, now))
  )

type Span = { from: SQL; until: SQL }
const utc = (date: SQL): SQL => sql`${date}::timestamp at time zone 'UTC'`
const dayOf = (day: string): Span => ({ from: utc(sql`${day}::date`), until: utc(sql`(${day}::date + 1)`) })
function monthOf(month: string): Span {
  const first = sql`${`${month}-01`}::date`
  return { from: utc(first), until: utc(sql`(${first} + interval '1 month')`) }
}

/** Kinds that are in the index `order_events_moments`. */
type Moment = Extract<OrderEventKind, 'placed' | 'pay' | 'renewed' | 'deliver_all'>

/**
 * Orders with such an event in the span. An index over the events answers it alone; orders have no index by these
 * moments, because no other list needs one. The array lets PostgreSQL read the list's own index in order and stop after
 * the first rows; with a join, the planner reads and sorts all of them.
 */
const inHistory = (kinds: readonly Moment[], { from, until }: Span): SQL => sql`${orders.id} = any(array(
  select ${orderEvents.orderId} from ${orderEvents} where ${orderEvents.at} >= ${from} and ${orderEvents.at} < ${until}
    and ${inArray(orderEvents.kind, [...kinds])}))`

function inTimes({ placed_on, placed_in, paid_on, paid_in }: OrderQuery): SQL[] {
  const asked = (on: string | undefined, within: string | undefined) => [
    ...(on === undefined ? [] : [dayOf(on)]),
    ...(within === undefined ? [] : [monthOf(within)])
  ]
  return [
    ...asked(placed_on, placed_in).map(span => inHistory(['placed'], span)),
    // A payment that settled nothing has brought no money yet.
    ...asked(paid_on, paid_in).map(span => sql`${inHistory(['pay', 'renewed'], span)} and not ${isUnsettledSql}`)
  ]
}

/** From the payment until all addresses worked. A list by it holds delivered orders only. */
const deliverySeconds = sql`coalesce(greatest(extract(epoch from ${orders.deliveredAt} - ${orders.paidAt}), 0), 0)::float8`

/** No index has the delivery time, so lists sort by it within one week, which the index of the events finds. */
function inDeliveries({ delivered_in, sort_by }: OrderQuery, now: Date): SQL | undefined {
  const time = delivered_in ?? (sort_by === 'delivery_seconds' ? 'week' : undefined)
  return time && deliveredIn(time, now)
}

/** Orders whose addresses all worked for the first time in the last 24 hours or 7 days, as delivery times count. */
function deliveredIn(time: DeliveredIn, now: Date): SQL {
  const from = sql`${iso(new Date(now.getTime() - (time === 'day' ? DAY : 7 * DAY)))}::timestamptz`
  return sql`${inHistory(['deliver_all'], { from, until: sql`'infinity'::timestamptz` })}
    and ${orders.deliveredAt} >= ${from} and ${orders.paidAt} is not null`
}

/** How many paid orders have no address delivered yet although they should: the filter `problem` lists them. */
export const countUndelivered = (db: Executor): Promise<number> =>
  db.$count(orders, sql`${listed(orders)} and ${undelivered(orders)}`)

/** The matches of each filter of the query, the narrowest kind first. */
async function findAll(db: Executor, query: OrderQuery, { userId, now, ordersPaidBy }: Scope): Promise<Found[]> {
  const { order_id, product_name, username, product_type, search } = query
  return Promise.all([
    ...(order_id ? [findByOrderId(db, order_id, { userId, ordersPaidBy })] : []),
    ...(username && userId === null ? [findUsers(db, username)] : []),
    ...(search ? [findByText(db, search, { userId, now, ordersPaidBy })] : []),
    ...(product_name ? [findProducts(db, product_name)] : []),
    ...(product_type ? [productsIn(db, product_type)] : [])
  ])
}

/**
 * The query reads rows by the first match; the others become conditions. A customer's orders are read by customer,
 * unless the match leads straight to them: by the index of customer and product, or by id.
 */
function narrow(found: Found[], userId: number | null, where: Match['where'] & object): Match {
  const own = userId === null ? undefined : eq(orders.userId, userId)
  const [first, ...others] = found
  const capped = found.some(part => part.capped)
  const direct = userId === null || first?.anyOf.every(({ column }) => column !== orders.productId)
  if (first && direct) {
    return { where: [...where, own, ...others.map(({ anyOf }) => anyAmong(anyOf))], anyOf: first.anyOf, capped }
  }
  const all = [...where, ...found.map(({ anyOf }) => anyAmong(anyOf))]
  return userId === null ? { where: all } : { where: all, anyOf: [{ column: orders.userId, among: [userId] }], capped }
}

/** Only an administrator can ask for all users' orders. */
const viewerOf = (userId: number | null): Viewer => (userId === null ? 'admin' : 'customer')

const selectOrders = (db: Executor, viewer: Viewer) =>
  db
    .select({
      order: orders,
      username: users.username,
      email: users.email,
      renewalDays: variants.proxyTime,
      taskWaits: sql<boolean>`case when ${orders.taskBegunAt} is null then false else ${waitsForServer(orders.id)} end`,
      holdsAddresses: viewer === 'admin' ? holdsAddresses(orders.id) : sql<boolean>`false`,
      product: productNameColumn
    })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .innerJoin(variants, eq(variants.id, orders.variantId))
    .$dynamic()

/** The discount of each level code, for orders that can still be paid. */
const discountsOf = (db: Executor, rows: readonly Pick<OrderWithPeople, 'order'>[], now: Date) =>
  levelDiscounts(
    db,
    rows.map(({ order }) => (isPayable(order, now) ? order.discountCode : null))
  )

/** One order of this user; null: of any user. */
export async function findOrder(db: Executor, id: number, userId: number | null, now: Date): Promise<Result<Order>> {
  const [row] = await selectOrders(db, viewerOf(userId)).where(
    and(eq(orders.id, id), isNull(orders.deletedAt), userId === null ? undefined : eq(orders.userId, userId))
  )
  if (!row) return refuse('not_found')
  const names = await ruleTexts(db)
  const quotas = await readQuotas(db)
  const discounts = await discountsOf(db, [row], now)
  return ok(presentOrder(row, names, { now, viewer: viewerOf(userId), quotas, discounts }))
}
