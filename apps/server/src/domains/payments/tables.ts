import { REFUND_STATES, type RefundState } from '@netlet/contract/payment-codes'
import { sql } from '../../infra/db/drizzle.ts'
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, money, ref } from '../../infra/db/columns.ts'
import type { RefundInput } from '../../integrations/shopify/index.ts'
import { users } from '../accounts/tables.ts'
import { orders, type TakenQuota } from '../orders/tables.ts'
import type { Line } from './paid-order.ts'

/** A line of the platform's order when it was paid. `price`: for one, in the payment's currency. */
export type PaidLine = Pick<Line, 'title' | 'variant_id' | 'quantity'> & { variant: string | null; price: string }

/**
 * One row for each platform order that was paid: one for a purchase, one for each renewal. Money that names no order
 * has a row too, so that it can be applied, refunded or ignored once.
 */
export const payments = pgTable(
  'payments',
  {
    id: id(),
    orderId: ref().references(() => orders.id),
    /** The order's user, copied by a trigger for the list of a user's payments. */
    userId: ref().references(() => users.id),
    platformOrderId: text().notNull().unique(),
    platformOrderNumber: text().notNull(),
    kind: text().$type<'purchase' | 'renewal'>().notNull(),
    /** What it brought the shop: nothing for a test payment or another currency. */
    amount: money().notNull(),
    discount: money().notNull(),
    /** What the platform took, in `currency`. */
    charged: money().notNull().default('0'),
    currency: text().notNull().default('USD'),
    /** `charged` in the buyer's currency, the rate for refunds and disputes. Null: the platform did not say. */
    buyerAmount: money(),
    buyerCurrency: text(),
    /** What it was paid for, as reported, for receipts. Null: not stored. */
    lines: jsonb().$type<PaidLine[]>(),
    /** See states.ts. */
    accepted: boolean().notNull(),
    /** The part of `amount` that was refunded. Revenue is the difference. */
    refundedAmount: money().notNull().default('0'),
    /** When the payment was fully refunded. */
    refundedAt: instant(),
    ignoredAt: instant(),
    /** The term that it gave, in days; for a refunded renewal, the days taken off. Null while it gives none. */
    days: integer(),
    /** A refunded renewal whose term was taken off its order. */
    termTaken: boolean().notNull().default(false),
    /** The running time that was taken, in milliseconds; may be less than `days`. Null: all of them, or nothing. */
    takenTime: bigint({ mode: 'number' }),
    /** What was taken of the order's quotas with it. Null: nothing, or not stored. */
    takenQuota: jsonb().$type<TakenQuota>(),
    /** The platform's time of the latest judged report; null: none. An older one that arrives later changes nothing. */
    reportedAt: instant(),
    /** When it was paid, for receipts and figures by day. Null: when the shop first heard of it (`createdAt`). */
    paidAt: instant(),
    createdAt: createdAt()
  },
  t => [
    index('payments_order').on(t.orderId),
    index('payments_user').on(t.userId, t.id),
    uniqueIndex('payments_one_purchase')
      .on(t.orderId)
      .where(sql`${t.kind} = 'purchase' and ${t.accepted}`),
    check('payments_kind', sql`${t.kind} in ('purchase', 'renewal')`),
    check('payments_order_named', sql`${t.orderId} is not null or not ${t.accepted}`),
    check('payments_refunded', sql`${t.refundedAmount} between 0 and greatest(${t.amount}, 0)`)
  ]
)

/**
 * Refunds and disputes by platform order, even before its payment is known, because events arrive in any order. One row
 * goes through `REFUND_TRANSITIONS`, whether the console requested it or the platform reported it.
 */
export const paymentRefunds = pgTable(
  'payment_refunds',
  {
    id: id(),
    /**
     * 'refund:<id>', 'reported:<order>', 'dispute:<id>' or 'operator:<event>': a repeated report changes nothing. ':2'
     * and so on: a later change. 'asked:<idempotency key>' until the platform answers with the refund's id.
     */
    key: text().notNull().unique(),
    platformOrderId: text().notNull(),
    /** See states.ts. */
    state: text().$type<RefundState>().notNull(),
    /** In the payment's currency: as requested, then as reported. Null: the whole payment. */
    amount: money(),
    /** '15.40 GBP': as reported in the buyer's currency. Until it is converted, `amount` is '0.00': `isUnconverted`. */
    foreignAmount: text(),
    /** The administrator who requested it in the console. */
    askedBy: text(),
    /** The administrator asked for a part of what was left, so that the lease goes on. */
    askedPart: boolean().notNull().default(false),
    /** What is sent to the platform, which takes an idempotency key again only with the same input. */
    input: jsonb().$type<RefundInput>(),
    /** When it was sent first, and the key with it. Null: the platform was not asked for it. */
    sentAt: instant(),
    /**
     * The platform's order is still to be read: after a won dispute, and after a refund, which may be pending, may have
     * been reported late, or may have failed since.
     */
    awaitsRead: boolean('awaits_decision').notNull().default(false),
    /** When that order was last read and the platform had no final result. */
    readAt: instant(),
    /** A dispute that the buyer's bank has decided for the buyer. */
    lost: boolean().notNull().default(false),
    /** When the money came back to the shop. */
    reversedAt: instant(),
    /** When it was reported or requested. */
    createdAt: createdAt()
  },
  t => [
    index('payment_refunds_order').on(t.platformOrderId),
    // The reconciliation reads it every five minutes.
    index('payment_refunds_unread')
      .on(t.id)
      .where(sql`${t.awaitsRead}`),
    check('payment_refunds_state', sql`${t.state} in (${sql.raw(REFUND_STATES.map(state => `'${state}'`).join(', '))})`)
  ]
)
