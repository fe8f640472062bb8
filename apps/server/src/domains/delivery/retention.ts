import { and, eq, exists, lt, sql } from 'drizzle-orm'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { leases } from '../inventory/tables.ts'
import { proxies } from './tables.ts'

const isRetired = sql`${proxies.state} = 'retired'`

export const deliveryRetention: RetentionEntry[] = [
  {
    what: 'retired_proxies',
    keep: { setting: 'keep_retired_proxies_days' },
    why: 'Addresses that an order gave back. Who held an address when is answered by the leases, which are kept.',
    remove: (unit, before, limit) =>
      removeRows(
        unit,
        proxies,
        and(
          isRetired,
          lt(proxies.updatedAt, before),
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
