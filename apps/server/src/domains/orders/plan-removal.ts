import type { BulkEffect, Reason } from '@netlet/contract'
import { eq, inArray, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { holdsAddresses } from '../inventory/index.ts'
import { countOutcomes, type Outcomes } from '../../infra/outcomes.ts'
import type { RemovalPorts } from './remove.ts'
import { SERVED_STATES } from './states.ts'
import { orders } from './tables.ts'

/** What the deletion of these orders would refuse, as `removeOrderIn` does, and the state of the others. */
export const planRemoval = (db: Executor, ids: number[], { hasOpenMoney }: RemovalPorts): Promise<Outcomes> =>
  countOutcomes(
    db,
    sql`unnest(${sql.param(ids)}::bigint[]) as asked(id) left join ${orders} on ${eq(orders.id, sql`asked.id`)}`,
    {
      refused: sql<Reason | null>`case
      when ${orders.id} is null or ${orders.deletedAt} is not null then 'not_found'
      when ${holdsAddresses(orders.id)} then 'order_has_lease'
      when ${inArray(orders.state, [...SERVED_STATES])} then 'order_runs'
      when ${hasOpenMoney} then 'order_has_open_payment'
    end`,
      effect: sql<BulkEffect>`case
      when ${orders.paidAt} is null then 'unpaid'
      when ${orders.state} in ('paid', 'failed') then 'owed'
      else 'ended'
    end`
    }
  )
