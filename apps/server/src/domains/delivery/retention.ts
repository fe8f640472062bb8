import { and, eq, exists, gt, lt, notExists, sql } from '../../infra/db/drizzle.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { leases } from '../inventory/tables.ts'
import { orders } from '../orders/tables.ts'
import { outageCredits, proxies } from './tables.ts'

const isRetired = sql`${proxies.state} = 'retired'`

export const deliveryRetention: RetentionEntry[] = [
  {
    what: 'retired_proxies',
    keep: { setting: 'keep_retired_proxies_days' },
    why: 'Addresses that an order gave back. Who held an address when is answered by the leases, which are kept. Those of an order that was credited for an outage stay until the order is over for as long.',
    remove: (unit, before, limit) =>
      removeRows(
        unit,
        proxies,
        and(
          isRetired,
          lt(proxies.updatedAt, before),
          // Later credits of the order are computed from these addresses.
          notExists(
            unit.tx
              .select({ one: sql`1` })
              .from(outageCredits)
              .innerJoin(orders, eq(orders.id, outageCredits.orderId))
              .where(
                and(
                  eq(outageCredits.orderId, proxies.orderId),
                  gt(sql`greatest(${orders.expiredAt}, ${orders.endedAt})`, before)
                )
              )
          ),
          // Until its lease has been released, its delivery or withdrawal is not over.
          exists(
            unit.tx
              .select({ one: sql`1` })
              .from(leases)
              .where(and(eq(leases.id, proxies.leaseId), eq(leases.state, 'released')))
          )
        ),
        limit
      ),
    count: db => countRows(db, proxies, proxies.updatedAt, isRetired)
  }
]
