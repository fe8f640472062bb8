import { REFUND_STATES, type RefundState } from '@netlet/contract/payment-codes'
import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, money, ref } from '../../infra/db/columns.ts'
import { users } from '../accounts/tables.ts'
import { orders } from '../orders/tables.ts'

/** A line of the platform's order when it was paid. `price` is of one, in the payment's currency. */
export type PaidLine = { title: string; variant: string | null; quantity: number; price: string }

/**
 * One row per platform order that paid something: a purchase once, a renewal once each. Money that names no order of ours
 * has a row as well, so that it can be applied, refunded or ignored once.
 */
export const payments = pgTable(
  'payments',
  {
    id: id(),
    orderId: ref().references(() => orders.id),
    /** Whose the order is: kept by a trigger, for the list of a user's payments. */
    userId: ref().references(() => users.id),
    platformOrderId: text().notNull().unique(),
    platformOrderNumber: text().notNull(),
    kind: text().$type<'purchase' | 'renewal'>().notNull(),
    /** What it brought of the shop's money: nothing for a test payment, or one in another currency. */
    amount: money().notNull(),
    discount: money().notNull(),
    /** What the platform took, in `currency`. */
    charged: money().notNull().default('0'),
    currency: text().notNull().default('USD'),
    /** The same in the buyer's currency, by which refunds and disputes are converted; null: the platform did not say. */
    buyerAmount: money(),
    buyerCurrency: text(),
    /** What it was paid for, as the platform reported it: receipts show it for as long as the payment is kept. Null: not kept. */
    lines: jsonb().$type<PaidLine[]>(),
    /** See states.ts. */
    accepted: boolean().notNull(),
    /** What of `amount` the platform gave back. Revenue is the difference. */
    refundedAmount: money().notNull().default('0'),
    /** When the last of it was given back. */
    refundedAt: instant(),
    ignoredAt: instant(),
    /** The term that it gave, in days; of a refunded renewal what was taken off again. Null while it gives none. */
    days: integer(),
    /** A refunded renewal whose term was taken off its order again. */
    termTaken: boolean().notNull().default(false),
    /** How much of a running term that was, in milliseconds: it may be less than `days` were. Null: all of them, or nothing. */
    takenTime: bigint({ mode: 'number' }),
    /** The platform's own time of the latest report that was judged: an older one that comes late says nothing new. */
    reportedAt: instant(),
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
 * Refunds and disputes, by the platform's order: also of payments that are not known (yet), since events come in any order. One row
 * lives through the states of `REFUND_TRANSITIONS`, whether the console asked for it or the platform told of it.
 */
export const paymentRefunds = pgTable(
  'payment_refunds',
  {
    id: id(),
    /**
     * 'refund:<id>', 'reported:<order>', 'dispute:<id>' or 'operator:<event>': told again, it changes nothing. ':2' and so on: what it
     * became since. 'asked:<idempotency key>' until the platform has answered which refund it is.
     */
    key: text().notNull().unique(),
    platformOrderId: text().notNull(),
    /** See states.ts. */
    state: text().$type<RefundState>().notNull(),
    /** In the payment's currency: what was asked for, then what was told. Null: all of the payment. */
    amount: money(),
    /** '15.40 GBP', as told in the buyer's currency: it is not converted yet, and counts as `amount` says. */
    foreignAmount: text(),
    /** The administrator who asked for it in the console. */
    askedBy: text(),
    /**
     * The platform has yet to be asked what it says of it: of a dispute that was won, and of a refund, which may have been told
     * late, or may have failed since.
     */
    awaitsDecision: boolean().notNull().default(false),
    /** When it came back to the shop. */
    reversedAt: instant(),
    /** When it was told, or asked for. */
    createdAt: createdAt()
  },
  t => [
    index('payment_refunds_order').on(t.platformOrderId),
    // Read every five minutes.
    index('payment_refunds_unread')
      .on(t.id)
      .where(sql`${t.awaitsDecision}`),
    check('payment_refunds_state', sql`${t.state} in (${sql.raw(REFUND_STATES.map(state => `'${state}'`).join(', '))})`)
  ]
)
