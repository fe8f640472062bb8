import { and, asc, eq, gt, inArray, isNull, lt, sql } from '../../infra/db/drizzle.ts'
import { DAY, HOUR } from '../../infra/clock.ts'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { users } from '../accounts/tables.ts'
import { renewable, SERVED_STATES, soldTodayOf } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { compareLines, missing } from '../payments/index.ts'

/** A payment may be for an order that was placed at most this long before it. */
const PLACED_WITHIN = DAY
/** At most this many orders of a customer are compared. */
const MOST = 100

/**
 * Guesses the order of a payment that names none, for an administrator to confirm. The customer's address and the exact
 * lines must match an order placed within a day before, or else one that these lines would renew.
 * @returns its public number; null if no order, or more than one, matches
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

/** Do the paid lines equal the needed ones? */
function isPaidBy(needed: Parameters<typeof compareLines>[0], quantity: number, paid: PaidOrder): boolean {
  const count = (total: number, line: { quantity: number }) => total + line.quantity
  const isAll = missing(compareLines(needed, paid), { quantity }) === null
  return isAll && needed.reduce(count, 0) === paid.line_items.reduce(count, 0)
}
