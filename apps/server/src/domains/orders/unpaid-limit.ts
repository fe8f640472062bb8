import { RESERVATION_MINUTES, refuse, type Settings } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { DAY } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { done, type Result } from '../../infra/result.ts'
import { orders } from './tables.ts'

/** A customer may hold all addresses that it may hold at once for so many minutes of 24 hours without paying. */
const FULL_MINUTES_A_DAY = 120
/** And may leave so many times the orders unpaid in 24 hours that it may hold at once: each one costs a row and a mail. */
const ORDERS_A_DAY = 10

type Unpaid = { open: number; addresses: number; orders: number; addressMinutes: number }

/**
 * May this customer hold `quantity` more addresses? Orders with a payment that counts do not count here; one that was paid
 * for less than was ordered does, or a cent would hold what nobody pays for. What was cancelled counts for as long as it
 * was held: whoever holds addresses, lets them time out or cancels them, and holds them again, is stopped for a while.
 * The caller holds the lock customerOrders.
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

/** No payment of it counts. Of a failed order the payment does only where nothing but the addresses was missing. */
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
