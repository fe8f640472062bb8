import { and, asc, eq, gt, inArray, isNull, lt, sql } from 'drizzle-orm'
import { DAY, HOUR } from '../../infra/clock.ts'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { users } from '../accounts/tables.ts'
import { renewable, SERVED_STATES, soldTodayOf } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { compareLines, missing } from '../payments/index.ts'

/** So long before its payment an order was placed that the payment may be for. */
const PLACED_WITHIN = DAY
/** So many orders of a customer are looked at. */
const MOST = 100

/**
 * The order that a payment without any name is probably for: of the same customer, by the address, paid by just these lines, and placed
 * within a day before; or else one that these lines would renew. An administrator decides.
 * @returns its public number; null where there is none, or more than one
 */
export async function proposedFor(db: Executor, paid: PaidOrder): Promise<string | null> {
  const email = paid.email ?? paid.contact_email ?? paid.customer?.email
  const paidAt = new Date(paid.processed_at ?? paid.created_at ?? Number.NaN)
  if (!email || Number.isNaN(paidAt.getTime())) return null
  const ofCustomer = and(eq(sql`lower(${users.email})`, email.toLowerCase()), isNull(users.deletedAt))
  const placed = await db
    .select({ order: orders })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(
      and(
        ofCustomer,
        isNull(orders.paidAt),
        isNull(orders.deletedAt),
        gt(orders.createdAt, new Date(paidAt.getTime() - PLACED_WITHIN)),
        lt(orders.createdAt, new Date(paidAt.getTime() + HOUR))
      )
    )
    .orderBy(asc(orders.id))
    .limit(MOST)
  const bought = placed.filter(({ order }) => isPaidBy(order.lines, order.quantity, paid))
  if (bought.length > 0) return onlyOne(bought)
  const all = await db
    .select({ order: orders })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(and(ofCustomer, inArray(orders.state, [...SERVED_STATES, 'expired']), isNull(orders.deletedAt)))
    .orderBy(asc(orders.id))
    .limit(MOST)
  const running = all.filter(({ order }) => renewable(order, paidAt).ok)
  const today = await soldTodayOf(
    db,
    running.map(({ order }) => order)
  )
  return onlyOne(running.filter(({ order }, at) => isPaidBy(today[at]?.lines ?? [], order.quantity, paid)))
}

const onlyOne = (found: { order: { publicId: string } }[]): string | null =>
  found.length === 1 ? (found[0]?.order.publicId ?? null) : null

/** Do the lines bring all that is needed, and nothing else? */
function isPaidBy(needed: Parameters<typeof compareLines>[0], quantity: number, paid: PaidOrder): boolean {
  const count = (total: number, line: { quantity: number }) => total + line.quantity
  const isAll = missing(compareLines(needed, paid), { quantity }) === null
  return isAll && needed.reduce(count, 0) === paid.line_items.reduce(count, 0)
}
