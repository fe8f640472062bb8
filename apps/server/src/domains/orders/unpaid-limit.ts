import { RESERVATION_MINUTES, refuse, type Settings } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { DAY } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { done, type Result } from '../../infra/result.ts'
import { orders } from './tables.ts'

/** In 24 hours a customer may hold all of its allowed addresses unpaid for this many minutes. */
const FULL_MINUTES_A_DAY = 120
/** Unpaid orders in 24 hours, as a multiple of those that it may hold at once. Each one costs a row and a mail. */
const ORDERS_A_DAY = 10

type Unpaid = { open: number; addresses: number; orders: number; addressMinutes: number }

/**
 * May this customer hold `quantity` more addresses unpaid? An underpaid order counts as unpaid, or one cent would hold
 * its addresses. A cancelled order counts for the time that it was held, so that holding, cancelling and holding again
 * is stopped. The caller holds the lock customerOrders.
 */
export async function unpaidLimit(
  db: Executor,
  { userId, quantity, now }: { userId: number; quantity: number; now: Date },
  { max_unpaid_orders, max_unpaid_addresses }: Pick<Settings, 'max_unpaid_orders' | 'max_unpaid_addresses'>
): Promise<Result<null>> {
  const held = await unpaidOf(db, userId, now)
  if (held.open >= max_unpaid_orders) return refuse('too_many_reservations', { data: { held: held.open } })
  if (quantity > max_unpaid_addresses) return refuse('too_many_addresses', { params: { max: max_unpaid_addresses } })
  if (held.addresses + quantity > max_unpaid_addresses) {
    return refuse('too_many_unpaid_addresses', { params: { max: max_unpaid_addresses, held: held.addresses } })
  }
  const minutes = held.addressMinutes + quantity * RESERVATION_MINUTES
  if (minutes > max_unpaid_addresses * FULL_MINUTES_A_DAY || held.orders >= max_unpaid_orders * ORDERS_A_DAY) {
    return refuse('unpaid_too_often')
  }
  return done
}

/** No payment counts. A failed order's payment counts only if nothing but addresses was missing. */
const unsettled = sql`(${orders.paidAt} is null
  or ${orders.state} = 'failed' and ${orders.failCode} is distinct from 'out_of_stock')`

/** What the customer holds unpaid at `now`, and held in the 24 hours before. */
async function unpaidOf(db: Executor, userId: number, now: Date): Promise<Unpaid> {
  const since = new Date(now.getTime() - DAY)
  const open = sql`${orders.state} in ('placed', 'failed') and ${orders.reservedUntil} > ${now}`
  const minutes = sql`greatest(0, extract(epoch from ${orders.reservedUntil} - greatest(${orders.createdAt}, ${since})) / 60)`
  const { rows } = await db.execute<Unpaid>(sql`
    select count(*) filter (where ${open}) as open,
      coalesce(sum(${orders.quantity}) filter (where ${open}), 0)::bigint as addresses,
      count(*) as orders,
      coalesce(ceil(sum(${orders.quantity} * ${minutes})), 0)::bigint as "addressMinutes"
    from ${orders}
    where ${orders.userId} = ${userId} and ${unsettled} and ${orders.reservedUntil} > ${since}`)
  const [row] = rows
  if (!row) throw new Error('the counts are one row')
  return row
}
