import { refuse, type DeliveredIn, type Order, type OrderEventKind, type OrderState } from '@netlet/contract'
import { and, eq, inArray, isNotNull, isNull, sql, type SQL } from 'drizzle-orm'
import { DAY, iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, anyAmong, defineList, type List, type ListInput, type Match } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { variants } from '../catalog/tables.ts'
import { waitsForServer } from '../fleet/index.ts'
import { holdsAddresses, ruleTexts } from '../inventory/index.ts'
import { levelDiscounts } from '../rewards/index.ts'
import { countKept } from './figures.ts'
import { findByOrderId, findByText, findProducts, findUsers, productsIn, type FindPorts, type Found } from './find.ts'
import { calledColumn } from './plan-names.ts'
import { isPayable, presentOrder, type OrderWithPeople, type Viewer } from './present.ts'
import { readQuotas } from './quotas.ts'
import { isUnsettledSql } from './renew.ts'
import { expiry, listed, live, orderEvents, orders, served, undelivered } from './tables.ts'

export type OrderQuery = ListInput<'id' | 'expired_at' | 'amount' | 'delivery_seconds'> & {
  order_id?: string | undefined
  product_name?: string | undefined
  /** Only an administrator's list knows other users' names. */
  username?: string | undefined
  user_id?: number | undefined
  /** A collection's id. */
  product_type?: number | undefined
  pay_status?: '0' | '1' | undefined
  state?: OrderState | undefined
  problem?: '1' | undefined
  live?: '1' | undefined
  /** A day, as '2026-03-01' (UTC). */
  ends_on?: string | undefined
  placed_on?: string | undefined
  placed_in?: string | undefined
  paid_on?: string | undefined
  /** A month, as '2026-03' (UTC). */
  paid_in?: string | undefined
  delivered_in?: DeliveredIn | undefined
}

/** The columns of the exported file. */
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
  /** Only this user's: null for everyone's. */
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
        // Histories of all orders are read for these: not for whoever has an account.
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

/** Served orders whose time ends on a day (UTC): a range of the index by expiry. */
const endsOn = (day: string) => sql`${served(orders)}
  and ${expiry(orders)} >= ${day}::date::timestamp at time zone 'UTC'
  and ${expiry(orders)} < (${day}::date + 1)::timestamp at time zone 'UTC'`

type Span = { from: SQL; until: SQL }
const utc = (date: SQL): SQL => sql`${date}::timestamp at time zone 'UTC'`
const dayOf = (day: string): Span => ({ from: utc(sql`${day}::date`), until: utc(sql`(${day}::date + 1)`) })
function monthOf(month: string): Span {
  const first = sql`${`${month}-01`}::date`
  return { from: utc(first), until: utc(sql`(${first} + interval '1 month')`) }
}

/** Kinds that `order_events_moments` has. */
type Moment = Extract<OrderEventKind, 'placed' | 'pay' | 'renewed' | 'deliver_all'>

/**
 * Orders to which something happened in a time. They are found by their histories, of which an index says it all: orders have
 * none by these moments, which no other list asks for. An array, since it is looked up in the sequence of the list's own index:
 * the first rows come without reading or sorting the rest, which the planner does not do for a join.
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
    // A payment that settled nothing brought no money, so far.
    ...asked(paid_on, paid_in).map(span => sql`${inHistory(['pay', 'renewed'], span)} and not ${isUnsettledSql}`)
  ]
}

/** What an order waited for from its payment until all addresses worked; a list by it has delivered orders only. */
const deliverySeconds = sql`coalesce(greatest(extract(epoch from ${orders.deliveredAt} - ${orders.paidAt}), 0), 0)::float8`

/** No index has how long a delivery took: everyone's are sorted by it within a week, which the histories' index leads to. */
function inDeliveries({ delivered_in, sort_by }: OrderQuery, now: Date): SQL | undefined {
  const time = delivered_in ?? (sort_by === 'delivery_seconds' ? 'week' : undefined)
  return time && deliveredIn(time, now)
}

/** Of which all addresses worked for the first time in the last 24 hours or 7 days: what delivery times are counted of. */
function deliveredIn(time: DeliveredIn, now: Date): SQL {
  const from = sql`${iso(new Date(now.getTime() - (time === 'day' ? DAY : 7 * DAY)))}::timestamptz`
  return sql`${inHistory(['deliver_all'], { from, until: sql`'infinity'::timestamptz` })}
    and ${orders.deliveredAt} >= ${from} and ${orders.paidAt} is not null`
}

/** How many orders are paid and have nothing delivered while they should: what the filter `problem` lists. */
export const countUndelivered = (db: Executor): Promise<number> =>
  db.$count(orders, sql`${listed(orders)} and ${undelivered(orders)}`)

/** What each filter of the query comes down to, the narrowest kind first. */
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
 * The first of what was found is what rows are read by; the rest are conditions. A customer's orders are read by the
 * customer, unless the index by customer and product, or by id, leads straight to those that were found.
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

/** Who asks for everyone's orders is an administrator. */
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
      product: calledColumn
    })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .innerJoin(variants, eq(variants.id, orders.variantId))
    .$dynamic()

/** What the codes of those that can still be paid take off. */
const discountsOf = (db: Executor, rows: readonly Pick<OrderWithPeople, 'order'>[], now: Date) =>
  levelDiscounts(
    db,
    rows.map(({ order }) => (isPayable(order, now) ? order.discountCode : null))
  )

/** One order, if it is the user's own (null: anyone's). */
export async function findOrder(db: Executor, id: number, userId: number | null, now: Date): Promise<Result<Order>> {
  const [rows, names, quotas] = await Promise.all([
    selectOrders(db, viewerOf(userId)).where(
      and(eq(orders.id, id), isNull(orders.deletedAt), userId === null ? undefined : eq(orders.userId, userId))
    ),
    ruleTexts(db),
    readQuotas(db)
  ])
  const [row] = rows
  if (!row) return refuse('not_found')
  const discounts = await discountsOf(db, rows, now)
  return ok(presentOrder(row, names, { now, viewer: viewerOf(userId), quotas, discounts }))
}
