import type { ReplyOf, routes } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { payments } from '../payments/tables.ts'
import { orders } from './tables.ts'

export type Statistics = ReplyOf<(typeof routes)['orders']['statistics']>

/**
 * Figures of all orders that are not deleted, in one query. Money is what accepted payments brought, renewals among
 * them, by the day they came. Days and months are UTC.
 */
export async function statistics(db: Executor, now: Date): Promise<Statistics> {
  const today = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())).toISOString()
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString()
  const amount = (from?: string) =>
    sql`coalesce(sum(p.amount) ${from ? sql`filter (where p.created_at >= ${from}::timestamptz)` : sql``}, 0)::numeric(16, 2)::text`
  const { rows } = await db.execute<Statistics>(sql`
    select counted.*, money.* from (
      select count(*) as total, count(o.paid_at) as paid, count(*) - count(o.paid_at) as unpaid,
        count(*) filter (where o.created_at >= ${today}::timestamptz) as today
      from ${orders} o where o.deleted_at is null
    ) counted, (
      select ${amount()} as "totalAmount", ${amount(month)} as "monthlyAmount", ${amount(today)} as "dailyAmount"
      from ${payments} p join ${orders} o on o.id = p.order_id
      where p.accepted and o.deleted_at is null
    ) money`)
  const [row] = rows
  if (!row) throw new Error('the figures are one row')
  return row
}
