import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, money, oneOf, ref } from '../../infra/db/columns.ts'
import { users } from '../accounts/tables.ts'
import { products, variants } from '../catalog/tables.ts'
import { serverGroups } from '../fleet/tables.ts'
import {
  ORDER_EVENTS,
  ORDER_FAILURES,
  ORDER_STATES,
  ORDER_TASKS,
  TASK_FAILURES,
  type OrderFailure,
  type Params,
  type TaskFailure
} from '@netlet/contract'

export const orders = pgTable(
  'orders',
  {
    id: id(),
    /** Our transaction id, shown to people and sent to the platform: unguessable. */
    publicId: text('order_id').notNull().unique('orders_orderId_unique'),
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
    state: text({ enum: ORDER_STATES }).notNull().default('placed'),
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
    /** Why it is not as it should be: see ORDER_FAILURES of the contract. */
    failCode: text().$type<OrderFailure>(),
    failParams: jsonb().$type<Params>(),
    /** Credentials of the proxies: one user per order, on every server that serves it. */
    proxyUsername: text().notNull().unique(),
    proxyPassword: text().notNull(),
    /** How many addresses are live on their agents; the goal is `quantity`. */
    deliveryNum: integer().notNull().default(0),
    /** The piece of work that was asked for, and how the last one ended. See task-states.ts. */
    task: text({ enum: ORDER_TASKS }),
    taskId: text(),
    taskAt: instant(),
    /** Its work was done, and the agents have to confirm it. */
    taskBegunAt: instant(),
    taskErrorCode: text().$type<TaskFailure>(),
    taskErrorParams: jsonb().$type<Params>(),
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
      sql`(${t.publicId} || ' ' || ${t.productName} || ' ' || coalesce(${t.platformOrderNumber}, '')) gin_trgm_ops`
    ),
    check(
      'orders_state',
      sql`${t.state} in ('placed', 'timed_out', 'paid', 'delivering', 'partly_delivered', 'delivered', 'expired', 'failed')`
    ),
    index('orders_tasks')
      .on(t.taskAt)
      .where(sql`${t.task} is not null`),
    check('orders_fail_code', oneOf(t.failCode, Object.keys(ORDER_FAILURES))),
    check('orders_task', oneOf(t.task, ORDER_TASKS)),
    check('orders_task_error', oneOf(t.taskErrorCode, Object.keys(TASK_FAILURES))),
    check('orders_task_begun', sql`${t.taskBegunAt} is null or ${t.task} is not null`),
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
    kind: text({ enum: ORDER_EVENTS }).notNull(),
    detail: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    at: createdAt()
  },
  t => [index('order_events_order').on(t.orderId, t.id), check('order_events_kind', oneOf(t.kind, ORDER_EVENTS))]
)
