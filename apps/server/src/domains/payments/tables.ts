import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, money, ref } from '../../infra/db/columns.ts'
import { orders } from '../orders/tables.ts'

/** One row per platform order that paid something: a purchase once, a renewal once each. */
export const payments = pgTable(
  'payments',
  {
    id: id(),
    orderId: ref()
      .notNull()
      .references(() => orders.id),
    platformOrderId: text().notNull().unique(),
    platformOrderNumber: text().notNull(),
    kind: text().$type<'purchase' | 'renewal'>().notNull(),
    amount: money().notNull(),
    discount: money().notNull(),
    /** See states.ts. */
    accepted: boolean().notNull(),
    createdAt: createdAt()
  },
  t => [
    index('payments_order').on(t.orderId),
    uniqueIndex('payments_one_purchase')
      .on(t.orderId)
      .where(sql`${t.kind} = 'purchase' and ${t.accepted}`),
    check('payments_kind', sql`${t.kind} in ('purchase', 'renewal')`)
  ]
)
