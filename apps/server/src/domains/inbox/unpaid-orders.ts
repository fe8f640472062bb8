import { and, asc, isNull, lt, not, sql } from '../../infra/db/drizzle.ts'
import { countRows, type RetentionEntry } from '../../infra/retention.ts'
import { proxies } from '../delivery/tables.ts'
import { leases } from '../inventory/tables.ts'
import { removeUnpaidOrders } from '../orders/index.ts'
import { isPending, orders } from '../orders/tables.ts'
import { payments } from '../payments/tables.ts'
import { hasOpenMoney } from './inbox.ts'

const isNeverPaid = and(sql`${orders.state} in ('timed_out', 'cancelled')`, isNull(orders.paidAt))

const isUnused = sql`not ${isPending(orders)} and not exists (select 1 from ${payments} where ${payments.orderId} = ${orders.id})
  and not exists (select 1 from ${proxies} where ${proxies.orderId} = ${orders.id})
  and not exists (select 1 from ${leases} where ${leases.orderId} = ${orders.id} and ${leases.state} <> 'released')`

/** Deletes orders that were never paid, unless an administrator still decides about money for them. */
export const unpaidRetention: RetentionEntry = {
  what: 'unpaid_orders',
  keep: { setting: 'keep_unpaid_orders_days' },
  why: 'Timed-out or cancelled orders that were never paid, with their history and reservations.',
  async remove(unit, before, limit) {
    const old = await unit.tx
      .select({ id: orders.id })
      .from(orders)
      .where(and(isNeverPaid, lt(orders.createdAt, before), isUnused, not(hasOpenMoney)))
      .orderBy(asc(orders.createdAt))
      .limit(limit)
      // A payment that is arriving now locks its order.
      .for('update', { of: orders, skipLocked: true })
    const ids = old.map(({ id }) => id)
    if (ids.length > 0) await removeUnpaidOrders(unit, ids)
    return ids.length
  },
  count: db => countRows(db, orders, orders.createdAt, isNeverPaid)
}
