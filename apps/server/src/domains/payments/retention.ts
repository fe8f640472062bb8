import { and, asc, eq, isNull, lt, ne, notExists, sql } from '../../infra/db/drizzle.ts'
import { countRows, type RetentionEntry } from '../../infra/retention.ts'
import { proxies } from '../delivery/tables.ts'
import { leases } from '../inventory/tables.ts'
import { removeUnpaidOrders } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { payments } from './tables.ts'

const isNeverPaid = and(sql`${orders.state} in ('timed_out', 'cancelled')`, isNull(orders.paidAt))

export const paymentRetention: RetentionEntry[] = [
  {
    what: 'unpaid_orders',
    keep: { setting: 'keep_unpaid_orders_days' },
    why: 'Timed-out or cancelled orders that were never paid, with their history and reservations.',
    async remove(unit, before, limit) {
      const one = { one: sql`1` }
      const old = await unit.tx
        .select({ id: orders.id })
        .from(orders)
        .where(
          and(
            isNeverPaid,
            lt(orders.createdAt, before),
            notExists(unit.tx.select(one).from(payments).where(eq(payments.orderId, orders.id))),
            notExists(unit.tx.select(one).from(proxies).where(eq(proxies.orderId, orders.id))),
            notExists(
              unit.tx
                .select(one)
                .from(leases)
                .where(and(eq(leases.orderId, orders.id), ne(leases.state, 'released')))
            )
          )
        )
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
]
