import { sql } from '../../infra/db/drizzle.ts'
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
import { serverGroups } from '../servers/tables.ts'
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

/** What the refund of a renewal took: bytes (null: no quota), changes of addresses, and resets of the password. */
export type TakenQuota = { traffic: number | null; changes: number; resets: number }

/** Conditions and sorts of lists. They must equal those of the indexes, letter for letter. */
export const listed = (t: Pick<Columns, 'deletedAt'>) => sql`${t.deletedAt} is null`
/** Is a checkout named for which it waits or waited? */
export const isPending = (t: { pendingFor: unknown }) => sql`${t.pendingFor} <> '{}'`
/** Paid, and should be delivered, but nothing is. */
export const undelivered = (t: Pick<Columns, 'paidAt' | 'deliveryNum' | 'state'>) =>
  sql`${t.paidAt} is not null and ${t.deliveryNum} = 0 and ${t.state} not in ('expired', 'refunded')`
/** Its addresses are held for its customer until it expires. It cannot be deleted. */
export const served = (t: Pick<Columns, 'state'>) => sql`${t.state} in ('delivering', 'partly_delivered', 'delivered')`
/** May lack addresses: an agent's refusal is shown in place of lost addresses. */
export const incomplete = (t: Pick<Columns, 'failCode'>) =>
  sql`${t.failCode} in ('addresses_lost', 'server_unreachable', 'agent_refused')`
/** Paid, and its time is not over. */
export const live = (t: Pick<Columns, 'state'>) =>
  sql`${t.state} in ('paid', 'delivering', 'partly_delivered', 'delivered')`
/** Orders without an end sort last. */
export const expiry = (t: Pick<Columns, 'expiredAt'>) => sql`coalesce(${t.expiredAt}, 'infinity')`

/** One line of the checkout: the plan first, then each rule. */
export type OrderLine = { variant: string; name: string; quantity: number }

export const orders = pgTable(
  'orders',
  {
    id: id(),
    /** Our transaction id, which people see and the platform gets. Unguessable. */
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
    /** See states.ts. */
    state: text({ enum: ORDER_STATES }).notNull().default('placed'),
    /** The customer's own words. */
    label: text(),
    note: text(),
    /** What was sold, as it was at the purchase. Later edits of the catalogue do not change it. */
    productName: text().notNull(),
    variantName: text().notNull(),
    quantity: integer().notNull(),
    cartStep: integer().notNull(),
    /** Days of the first term, then of the latest one. Reminders depend on it. */
    proxyTime: integer().notNull(),
    variantPrice: money().notNull(),
    aclPrice: money().notNull(),
    /** The plan's limits when the order was placed or last renewed. */
    limits: jsonb()
      .$type<PlanLimits>()
      .notNull()
      .default(sql`'{}'`),
    /** The plan's address family and egress when the order was placed. */
    addressFamily: text().$type<OrderFamily>().notNull().default('ipv4'),
    egress: text().$type<EgressMode>().notNull().default('fixed'),
    /** quantity × (variantPrice + aclPrice), before discounts. */
    amount: money().notNull(),
    /** Everything that was paid for it, with its renewals. Null until it is paid. */
    payAmount: money(),
    /** What the running term was paid with: the purchase, or the latest renewal that counts. Null until it is paid. */
    lastAmount: money(),
    /** Ids of the selected rules, ascending. */
    rules: integer().array().notNull(),
    /** The platform's variants that a payment must contain, as they were when the order was placed. */
    lines: jsonb().$type<OrderLine[]>().notNull().default([]),
    platformOrderId: text(),
    platformOrderNumber: text(),
    checkoutUrl: text(),
    discountCode: text(),
    reservedUntil: instant().notNull(),
    /** Until when a payment that is on its way, its own or a renewal's, holds its addresses at most. Null: none is. */
    pendingUntil: instant(),
    /** The same for each platform order that may pay it, by the platform's id, in ISO 8601: each is another checkout. */
    pendingFor: jsonb()
      .$type<Record<string, string>>()
      .notNull()
      .default(sql`'{}'`),
    createdAt: createdAt(),
    paidAt: instant(),
    /** Null until all addresses work for the first time, which starts the term. */
    expiredAt: instant(),
    /** When the addresses or the password last changed. */
    resetTime: instant(),
    /** The first reminder of the current expiry. */
    reminderSentAt: instant(),
    /** The second reminder, on the last day. */
    lastReminderSentAt: instant(),
    /** When all addresses first worked and the term started. */
    deliveredAt: instant(),
    /** Days that renewals before the delivery added to the first term. */
    extraDays: integer().notNull().default(0),
    /** Of an expired order: until when its addresses stay held. Null: they are not held. */
    graceUntil: instant(),
    /**
     * Since when it is not served: since it expired or was refunded, or since its revival until addresses work. The
     * time from here to `expiredAt` was not served.
     */
    endedAt: instant(),
    /** How much of `payAmount` the platform refunded. */
    refundedAmount: money().notNull().default('0'),
    /** Its failure: see ORDER_FAILURES of the contract. */
    failCode: text().$type<OrderFailure>(),
    failParams: jsonb().$type<Params>(),
    /** Credentials of the proxies: one user for each order, on every server that serves it. */
    proxyUsername: text().notNull().unique(),
    proxyPassword: text().notNull(),
    /** How many addresses work on their agents; the goal is `quantity`. */
    deliveryNum: integer().notNull().default(0),
    /** The requested task, and how the last one ended. See task-states.ts. */
    task: text({ enum: ORDER_TASKS }),
    taskId: text(),
    taskAt: instant(),
    /** When its work was done. The agents have yet to confirm it. */
    taskBegunAt: instant(),
    /** How many proxies a running check has done. */
    taskDone: integer(),
    taskErrorCode: text().$type<TaskFailure>(),
    taskErrorParams: jsonb().$type<Params>(),
    /** How often the customer has changed the addresses and reset the password in the running term. */
    changesUsed: integer().notNull().default(0),
    resetsUsed: integer().notNull().default(0),
    /** Whether the current task counts to the quota. If it fails and changes nothing, it is given back. */
    taskCounted: boolean().notNull().default(false),
    /** When other addresses were last looked for. The order that was tried longest ago comes first. */
    rescueTriedAt: instant(),
    deletedAt: instant()
  },
  t => [
    // Indexes of the lists. They are ascending, because PostgreSQL reads them backwards for "newest first"; drizzle's
    // `desc()` puts nulls last, which no list wants. Deleted orders are on no list.
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
    // For retention.
    index('orders_never_paid')
      .on(t.createdAt)
      .where(sql`${t.state} in ('timed_out', 'cancelled') and ${t.paidAt} is null`),
    // For the jobs of each minute.
    index('orders_pending').on(t.id).where(isPending(t)),
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
 * The reply to a checkout with an Idempotency-Key. The same customer gets it again for the same key, until it expires.
 */
export const checkoutKeys = pgTable(
  'checkout_keys',
  {
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    key: text().notNull(),
    /** SHA-256 of the request: the key cannot serve another request. */
    bodyHash: bytes().notNull(),
    reply: jsonb().$type<{ checkout_url: string; id: number; order_id: string; expires_at: string }>().notNull(),
    createdAt: createdAt()
  },
  t => [primaryKey({ columns: [t.userId, t.key] }), index('checkout_keys_age').on(t.createdAt)]
)

/** The history of an order: its transitions and all actions on it. */
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
    // For lists of orders with an event in a span.
    index('order_events_moments')
      .on(t.kind, t.at, t.orderId)
      .where(sql`${t.kind} in ('placed', 'pay', 'renewed', 'deliver_all')`),
    check('order_events_kind', oneOf(t.kind, ORDER_EVENTS))
  ]
)

/**
 * Names under which products were sold. Later edits of the catalogue do not change them, so a search by product reads
 * them first. A trigger on orders maintains them.
 */
export const orderProductNames = pgTable('order_product_names', { name: text().primaryKey() })

/** Figures of orders by day (UTC), folded from `orderFigureDeltas`; see docs/adr/kept-figures.md. */
export const orderFigures = pgTable('order_figures', {
  day: date({ mode: 'string' }).primaryKey(),
  /** Orders placed on that day that are not deleted, and how many of them are paid. */
  orders: bigint({ mode: 'number' }).notNull(),
  paid: bigint({ mode: 'number' }).notNull(),
  /** What the accepted payments of that day brought, for orders that are not deleted. */
  revenue: numeric({ precision: 16, scale: 2 }).notNull()
})

/** Changes of the figures. Triggers on orders and payments insert them. */
export const orderFigureDeltas = pgTable('order_figure_deltas', {
  id: id(),
  day: date({ mode: 'string' }).notNull(),
  orders: integer().notNull().default(0),
  paid: integer().notNull().default(0),
  revenue: numeric({ precision: 16, scale: 2 }).notNull().default('0')
})
