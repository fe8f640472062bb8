import { refuse, type Order, type OrderState } from '@netlet/contract'
import { and, desc, eq, exists, ilike, inArray, isNotNull, isNull, or, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { rowCounter } from '../../infra/db/row-counter.ts'
import { containing, pageOf } from '../../infra/http/paging.ts'
import { ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { productCollections } from '../catalog/tables.ts'
import { ruleNames } from '../inventory/index.ts'
import { presentOrder } from './present.ts'
import { orders } from './tables.ts'

export type OrderFilter = {
  /** Only this user's: null for everyone's. */
  userId: number | null
  search?: string | undefined
  orderId?: string | undefined
  username?: string | undefined
  productName?: string | undefined
  /** A collection's id. */
  collection?: number | undefined
  state?: OrderState | undefined
  paid?: boolean | undefined
  limit: number
  offset: number
}

/** The expression of the trigram index. */
const searchable = sql`(${orders.publicId} || ' ' || ${orders.productName} || ' ' || coalesce(${orders.platformOrderNumber}, ''))`

const countAll = rowCounter(orders, orders.id, isNull(orders.deletedAt))

const filtersOf = ({ limit: _limit, offset: _offset, ...filters }: OrderFilter) => filters

/** A page of orders, newest first, in three queries. */
export async function listOrders(db: Executor, filter: OrderFilter, now: Date) {
  const where = conditions(db, filter)
  const everything = Object.values(filtersOf(filter)).every(value => value === null || value === undefined)
  const [rows, total, names] = await Promise.all([
    db
      .select({ order: orders, username: users.username, email: users.email })
      .from(orders)
      .innerJoin(users, eq(users.id, orders.userId))
      .where(where)
      .orderBy(desc(orders.id))
      .limit(filter.limit)
      .offset(filter.offset),
    everything ? countAll(db) : db.$count(orders, where),
    ruleNames(db)
  ])
  return pageOf(
    rows.map(row => presentOrder(row, names, now)),
    total,
    filter
  )
}

/** One order, if it is the user's own (null: anyone's). */
export async function findOrder(db: Executor, id: number, userId: number | null, now: Date): Promise<Result<Order>> {
  const [rows, names] = await Promise.all([
    db
      .select({ order: orders, username: users.username, email: users.email })
      .from(orders)
      .innerJoin(users, eq(users.id, orders.userId))
      .where(and(eq(orders.id, id), isNull(orders.deletedAt), userId === null ? undefined : eq(orders.userId, userId))),
    ruleNames(db)
  ])
  const [row] = rows
  return row ? ok(presentOrder(row, names, now)) : refuse('not_found')
}

function conditions(db: Executor, filter: OrderFilter): SQL | undefined {
  const { userId, search, orderId, username, productName, collection, state, paid } = filter
  return and(
    isNull(orders.deletedAt),
    userId === null ? undefined : eq(orders.userId, userId),
    state ? eq(orders.state, state) : undefined,
    paid === undefined ? undefined : paid ? isNotNull(orders.paidAt) : isNull(orders.paidAt),
    search
      ? or(
          ilike(searchable, containing(search)),
          userId === null ? inArray(orders.userId, usersNamed(db, search)) : undefined
        )
      : undefined,
    orderId ? ilike(searchable, containing(orderId)) : undefined,
    productName
      ? and(ilike(searchable, containing(productName)), ilike(orders.productName, containing(productName)))
      : undefined,
    username ? inArray(orders.userId, usersNamed(db, username)) : undefined,
    collection
      ? exists(
          db
            .select({ one: sql`1` })
            .from(productCollections)
            .where(
              and(eq(productCollections.productId, orders.productId), eq(productCollections.collectionId, collection))
            )
        )
      : undefined
  )
}

const usersNamed = (db: Executor, name: string) =>
  db
    .select({ id: users.id })
    .from(users)
    .where(ilike(sql`(${users.username} || ' ' || ${users.email})`, containing(name)))
