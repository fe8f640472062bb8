import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, money, ref } from '../../infra/db/columns.ts'
import { users } from '../accounts/tables.ts'
import { products, variants } from '../catalog/tables.ts'
import { serverGroups } from '../fleet/tables.ts'
import type { OrderState } from '@netlet/contract'

export const orders = pgTable(
  'orders',
  {
    id: id(),
    /** Our transaction id, shown to people and sent to the platform: unguessable. */
    orderId: text().notNull().unique(),
    userId: ref()
      .notNull()
      .references(() => users.id),
    productId: ref()
      .notNull()
      .references(() => products.id),
    variantId: ref()
      .notNull()
      .references(() => variants.id),
    serverGroupId: ref()
      .notNull()
      .references(() => serverGroups.id),
    /** See states.ts: the one table of states and transitions. */
    state: text().$type<OrderState>().notNull().default('placed'),
    /** What was sold, as it was then: later edits of the catalogue do not change an order. */
    productName: text().notNull(),
    variantName: text().notNull(),
    quantity: integer().notNull(),
    cartStep: integer().notNull(),
    proxyTime: integer().notNull(),
    variantPrice: money().notNull(),
    aclPrice: money().notNull(),
    /** quantity × (variantPrice + aclPrice). */
    amount: money().notNull(),
    payAmount: money(),
    /** The selected rules' ids, ascending. */
    rules: integer().array().notNull(),
    platformOrderId: text(),
    platformOrderNumber: text(),
    checkoutUrl: text(),
    discountCode: text(),
    reservedUntil: instant().notNull(),
    createdAt: createdAt(),
    paidAt: instant(),
    expiredAt: instant(),
    /** When the addresses or the password were last changed. */
    resetTime: instant(),
    reminderSentAt: instant(),
    failReason: text(),
    /** Credentials of the proxies: one user per order, on every server that serves it. */
    proxyUsername: text().notNull().unique(),
    proxyPassword: text().notNull(),
    /** How many addresses are live on their agents; the goal is `quantity`. */
    deliveryNum: integer().notNull().default(0),
    /** The running piece of work ('check', 'change', 'reset', 'deliver'), its job, and how the last one ended. */
    task: text(),
    taskId: text(),
    taskAt: instant(),
    taskError: text(),
    deletedAt: instant()
  },
  t => [
    index('orders_user').on(t.userId, t.id.desc()),
    index('orders_product').on(t.productId, t.id.desc()),
    index('orders_paid_at').on(t.paidAt),
    index('orders_platform').on(t.platformOrderId),
    index('orders_created').on(t.createdAt),
    index('orders_reservations')
      .on(t.reservedUntil)
      .where(sql`${t.state} = 'placed'`),
    index('orders_expiry')
      .on(t.expiredAt)
      .where(sql`${t.state} in ('paid', 'delivering', 'partly_delivered', 'delivered', 'failed')`),
    index('orders_search').using(
      'gin',
      sql`(${t.orderId} || ' ' || ${t.productName} || ' ' || coalesce(${t.platformOrderNumber}, '')) gin_trgm_ops`
    ),
    check(
      'orders_state',
      sql`${t.state} in ('placed', 'timed_out', 'paid', 'delivering', 'partly_delivered', 'delivered', 'expired', 'failed')`
    ),
    index('orders_tasks')
      .on(t.taskAt)
      .where(sql`${t.task} is not null`),
    check('orders_quantity', sql`${t.quantity} > 0 and ${t.quantity} % ${t.cartStep} = 0`),
    check('orders_amount', sql`${t.amount} = ${t.quantity} * (${t.variantPrice} + ${t.aclPrice})`),
    check('orders_delivery', sql`${t.deliveryNum} between 0 and ${t.quantity}`),
    check('orders_rules', sql`cardinality(${t.rules}) > 0`),
    check('orders_paid', sql`(${t.paidAt} is null) = (${t.payAmount} is null)`)
  ]
)

/** The history of an order: every transition and every action on it. */
export const orderEvents = pgTable(
  'order_events',
  {
    id: id(),
    orderId: ref()
      .notNull()
      .references(() => orders.id),
    kind: text().notNull(),
    detail: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    at: createdAt()
  },
  t => [index('order_events_order').on(t.orderId, t.id)]
)

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

/** Every webhook of the platform, by its event id: seen again, it changes nothing. */
export const platformEvents = pgTable(
  'platform_events',
  {
    eventId: text().primaryKey(),
    topic: text().notNull(),
    payload: jsonb().$type<unknown>().notNull(),
    receivedAt: createdAt(),
    processedAt: instant(),
    outcome: text()
  },
  t => [
    index('platform_events_received').on(t.receivedAt),
    // Asked each minute, while the events of years gather.
    index('platform_events_waiting')
      .on(t.receivedAt)
      .where(sql`${t.processedAt} is null`)
  ]
)
