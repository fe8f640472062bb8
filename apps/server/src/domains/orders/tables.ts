import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  bigint,
  date,
  numeric
} from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, money, oneOf, ref } from '../../infra/db/columns.ts'
import { users } from '../accounts/tables.ts'
import { products, variants } from '../catalog/tables.ts'
import { serverGroups } from '../fleet/tables.ts'
import {
  type EgressMode,
  type OrderFamily,
  ORDER_EVENTS,
  ORDER_FAILURES,
  ORDER_STATES,
  ORDER_TASKS,
  TASK_FAILURES,
  type OrderFailure,
  type Params,
  type PlanLimits,
  type TaskFailure
} from '@netlet/contract'

type Columns = Record<'deletedAt' | 'expiredAt' | 'paidAt' | 'deliveryNum' | 'state' | 'failCode', unknown>

/** Conditions and sorts of lists: letter for letter what the indexes are made of. */
export const listed = (t: Pick<Columns, 'deletedAt'>) => sql`${t.deletedAt} is null`
/** Paid, and nothing delivered, while it should be. */
export const undelivered = (t: Pick<Columns, 'paidAt' | 'deliveryNum' | 'state'>) =>
  sql`${t.paidAt} is not null and ${t.deliveryNum} = 0 and ${t.state} not in ('expired', 'refunded')`
/** Its addresses are held for its customer until it expires. Such an order cannot be deleted. */
export const served = (t: Pick<Columns, 'state'>) => sql`${t.state} in ('delivering', 'partly_delivered', 'delivered')`
/** Lacks addresses, or may: an agent that refuses is shown before what is lost. */
export const incomplete = (t: Pick<Columns, 'failCode'>) =>
  sql`${t.failCode} in ('addresses_lost', 'server_unreachable', 'agent_refused')`
/** Paid, and its time is not over. */
export const live = (t: Pick<Columns, 'state'>) =>
  sql`${t.state} in ('paid', 'delivering', 'partly_delivered', 'delivered')`
/** An order without an end ends after all others. */
export const expiry = (t: Pick<Columns, 'expiredAt'>) => sql`coalesce(${t.expiredAt}, 'infinity')`

/** One line of the checkout: the plan first, then each rule. */
export type OrderLine = { variant: string; name: string; quantity: number }

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
    /** Its customer's own words for it. */
    label: text(),
    note: text(),
    /** What was sold, as it was then: later edits of the catalogue do not change an order. */
    productName: text().notNull(),
    variantName: text().notNull(),
    quantity: integer().notNull(),
    cartStep: integer().notNull(),
    /** Days: its first term until it is delivered, then its latest one, by which its customer is reminded. */
    proxyTime: integer().notNull(),
    variantPrice: money().notNull(),
    aclPrice: money().notNull(),
    /** What of it is limited: as it was when it was placed, or last renewed. */
    limits: jsonb()
      .$type<PlanLimits>()
      .notNull()
      .default(sql`'{}'`),
    /** What one address of it is, and what connections leave from: as its plan said when it was placed. */
    addressFamily: text().$type<OrderFamily>().notNull().default('ipv4'),
    egress: text().$type<EgressMode>().notNull().default('fixed'),
    /** quantity × (variantPrice + aclPrice). */
    amount: money().notNull(),
    payAmount: money(),
    /** What of it the running term was paid with: its purchase, or its latest renewal that counts. Null until it is paid. */
    lastAmount: money(),
    /** The selected rules' ids, ascending. */
    rules: integer().array().notNull(),
    /** What its payments have to bring: the platform's variants, as they were when it was placed. */
    lines: jsonb().$type<OrderLine[]>().notNull().default([]),
    platformOrderId: text(),
    platformOrderNumber: text(),
    checkoutUrl: text(),
    discountCode: text(),
    reservedUntil: instant().notNull(),
    createdAt: createdAt(),
    paidAt: instant(),
    /** Null until it is delivered: its term starts then. */
    expiredAt: instant(),
    /** When the addresses or the password were last changed. */
    resetTime: instant(),
    /** The first reminder of the present expiry. */
    reminderSentAt: instant(),
    /** The second reminder, on the last day. */
    lastReminderSentAt: instant(),
    /** When all addresses worked for the first time: its term starts then. */
    deliveredAt: instant(),
    /** Days that renewals before the delivery added: the first term is longer by so many. */
    extraDays: integer().notNull().default(0),
    /** An expired order: until then its addresses stay held for its customer. Null: they are not held any more. */
    graceUntil: instant(),
    /**
     * Since when it is not served: it expired or was refunded, or was brought back after that and nothing works yet. What
     * is left until `expiredAt` then was never served.
     */
    endedAt: instant(),
    /** What of `payAmount` the platform gave back. */
    refundedAmount: money().notNull().default('0'),
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
    /** How many proxies a running check has done. */
    taskDone: integer(),
    taskErrorCode: text().$type<TaskFailure>(),
    taskErrorParams: jsonb().$type<Params>(),
    /** How often its customer has changed its addresses, and its password, since its running term was paid. */
    changesUsed: integer().notNull().default(0),
    resetsUsed: integer().notNull().default(0),
    /** Its task is one of these: it is given back where it fails with nothing changed. */
    taskCounted: boolean().notNull().default(false),
    /** When other addresses were last looked for; who was tried longest ago comes first. */
    rescueTriedAt: instant(),
    deletedAt: instant()
  },
  t => [
    // What lists are read by. Ascending: PostgreSQL reads an index backwards for "newest first", whereas drizzle's
    // `desc()` puts nulls last, an order that no list asks for. A deleted order is on no list.
    index('orders_listed').on(t.id).where(listed(t)),
    index('orders_user').on(t.userId, t.id, t.deletedAt),
    index('orders_user_product').on(t.userId, t.productName, t.id).where(listed(t)),
    index('orders_labelled')
      .on(t.userId, t.id)
      .where(sql`${listed(t)} and ${t.label} is not null`),
    index('orders_product').on(t.productId, t.id, t.deletedAt),
    index('orders_of_variant')
      .on(t.variantId, t.state)
      .where(
        sql`${listed(t)} and ${t.state} in ('placed', 'paid', 'delivering', 'partly_delivered', 'delivered', 'failed')`
      ),
    index('orders_product_name').on(t.productName, t.id).where(listed(t)),
    index('orders_state_listed').on(t.state, t.id).where(listed(t)),
    index('orders_paid_listed')
      .on(t.id)
      .where(sql`${listed(t)} and ${t.paidAt} is not null`),
    index('orders_unpaid_listed')
      .on(t.id)
      .where(sql`${listed(t)} and ${t.paidAt} is null`),
    index('orders_undelivered')
      .on(t.id)
      .where(sql`${listed(t)} and ${undelivered(t)}`),
    index('orders_by_expiry').on(expiry(t), t.id).where(listed(t)),
    index('orders_live_listed')
      .on(t.id)
      .where(sql`${listed(t)} and ${live(t)}`),
    index('orders_live_by_expiry')
      .on(expiry(t), t.id)
      .where(sql`${listed(t)} and ${live(t)}`),
    index('orders_by_amount').on(t.amount, t.id).where(listed(t)),
    index('orders_platform').on(t.platformOrderId),
    index('orders_platform_number').on(t.platformOrderNumber),
    index('orders_search').using('gin', sql`${t.publicId} gin_trgm_ops`),
    index('orders_reservations')
      .on(t.reservedUntil)
      .where(sql`${t.state} = 'placed'`),
    // What retention removes.
    index('orders_never_paid')
      .on(t.createdAt)
      .where(sql`${t.state} in ('timed_out', 'cancelled') and ${t.paidAt} is null`),
    // What each minute's jobs look for.
    index('orders_live').on(t.expiredAt, t.id).where(served(t)),
    index('orders_underway')
      .on(t.id)
      .where(sql`${t.state} in ('delivering', 'partly_delivered')`),
    index('orders_incomplete').on(t.id).where(incomplete(t)),
    index('orders_failed')
      .on(t.reservedUntil)
      .where(sql`${t.state} = 'failed'`),
    check(
      'orders_state',
      sql`${t.state} in ('placed', 'timed_out', 'cancelled', 'paid', 'delivering', 'partly_delivered', 'delivered', 'expired', 'failed', 'refunded')`
    ),
    index('orders_tasks')
      .on(t.taskAt)
      .where(sql`${t.task} is not null`),
    check('orders_family', sql`${t.addressFamily} in ('ipv4', 'ipv6', 'any')`),
    check(
      'orders_egress',
      sql`${t.egress} = 'fixed' or (${t.egress} in ('request', 'session') and ${t.addressFamily} = 'ipv6')`
    ),
    check('orders_fail_code', oneOf(t.failCode, Object.keys(ORDER_FAILURES))),
    check('orders_task', oneOf(t.task, ORDER_TASKS)),
    check('orders_task_error', oneOf(t.taskErrorCode, Object.keys(TASK_FAILURES))),
    check('orders_task_begun', sql`${t.taskBegunAt} is null or ${t.task} is not null`),
    check('orders_quantity', sql`${t.quantity} > 0 and ${t.quantity} % ${t.cartStep} = 0`),
    check('orders_amount', sql`${t.amount} = ${t.quantity} * (${t.variantPrice} + ${t.aclPrice})`),
    check('orders_delivery', sql`${t.deliveryNum} between 0 and ${t.quantity}`),
    check('orders_rules', sql`cardinality(${t.rules}) > 0`),
    index('orders_grace')
      .on(t.graceUntil)
      .where(sql`${t.graceUntil} is not null`),
    check('orders_paid', sql`(${t.paidAt} is null) = (${t.payAmount} is null)`),
    check('orders_quota', sql`${t.changesUsed} >= 0 and ${t.resetsUsed} >= 0`),
    check('orders_extra_days', sql`${t.extraDays} >= 0`)
  ]
)

/**
 * What a checkout with an Idempotency-Key answered: the same customer gets the same reply for the same key. Removed when
 * the key has run out.
 */
export const checkoutKeys = pgTable(
  'checkout_keys',
  {
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    key: text().notNull(),
    /** SHA-256 of what was asked for: the key cannot be used for anything else. */
    bodyHash: bytes().notNull(),
    reply: jsonb().$type<{ checkout_url: string; id: number; order_id: string; expires_at: string }>().notNull(),
    createdAt: createdAt()
  },
  t => [primaryKey({ columns: [t.userId, t.key] }), index('checkout_keys_age').on(t.createdAt)]
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
  t => [
    index('order_events_order').on(t.orderId, t.id),
    index('order_events_at').on(t.at),
    // Which orders something happened to in a time, for the lists that ask for these.
    index('order_events_moments')
      .on(t.kind, t.at, t.orderId)
      .where(sql`${t.kind} in ('placed', 'pay', 'renewed', 'deliver_all')`),
    check('order_events_kind', oneOf(t.kind, ORDER_EVENTS))
  ]
)

/**
 * Names under which products were sold, which later edits of the catalogue do not change: a search of orders by product
 * looks here first. Kept by a trigger on orders.
 */
export const orderProductNames = pgTable('order_product_names', { name: text().primaryKey() })

/** Figures of orders by day (UTC), folded from `orderFigureDeltas`; see docs/adr/kept-figures.md. */
export const orderFigures = pgTable('order_figures', {
  day: date({ mode: 'string' }).primaryKey(),
  /** Orders placed on that day that are not deleted, and how many of them are paid. */
  orders: bigint({ mode: 'number' }).notNull(),
  paid: bigint({ mode: 'number' }).notNull(),
  /** What accepted payments of that day brought, for orders that are not deleted. */
  revenue: numeric({ precision: 16, scale: 2 }).notNull()
})

/** Changes of the figures, only ever inserted, by triggers on orders and payments. */
export const orderFigureDeltas = pgTable('order_figure_deltas', {
  id: id(),
  day: date({ mode: 'string' }).notNull(),
  orders: integer().notNull().default(0),
  paid: integer().notNull().default(0),
  revenue: numeric({ precision: 16, scale: 2 }).notNull().default('0')
})
