import { z } from 'zod'
import { customerNote } from './customer-note.ts'
import { message } from './form-messages.ts'
import { ORDER_STATES } from './states.ts'
import { LABEL_LENGTH, NOTE_LENGTH } from './limits.ts'
import { toCents } from './money.ts'
import { LevelDiscount } from './platform-codes.ts'
import type { ConfirmLimits } from './route.ts'
import { Instant, Money, MoneyInput, optionalText, ReasonParams, storable, text, Time } from './shapes.ts'
import { EgressMode, OrderFamily } from './address-family.ts'

/** Why a paid order has a problem, as sentences for `fillIn`. */
export const ORDER_FAILURES = {
  /** The addresses were gone when the payment arrived. */
  out_of_stock: 'Out of stock: the addresses were gone when the payment arrived',
  underpaid: 'Underpaid: {paid} of {due}',
  agent_refused: 'A server refused the proxies: {message}',
  /** The platform order lacks lines that this order needs. */
  lines_missing: 'Payment does not cover the order: {missing}',
  /** Paid after its reservation, when the product was no longer on sale. */
  purchase_not_sold: 'Payment arrived late; no longer sold: {what}',
  wrong_currency: 'Paid in {currency}, not in {expected}',
  test_payment: 'Test payment: no money was charged',
  /** The platform's order was cancelled without a refund. */
  cancelled: 'Cancelled on the platform, but not refunded',
  server_unreachable: 'Server {server} is not responding; {count} {count|address is|addresses are} waiting for it',
  addresses_lost: '{count} {count|address no longer belongs|addresses no longer belong} to any server'
} as const
export type OrderFailure = keyof typeof ORDER_FAILURES

/** Why the last task of an order failed. */
export const TASK_FAILURES = {
  out_of_stock: 'Out of stock',
  agent_refused: 'A server refused the proxies: {message}'
} as const
export type TaskFailure = keyof typeof TASK_FAILURES

/** Sentences for customers, if the others name servers or quote them. */
export const CUSTOMER_FAILURES = {
  agent_refused: 'A server refused the proxies',
  server_unreachable: 'A server is not responding; {count} {count|address is|addresses are} waiting for it'
} as const satisfies Partial<Record<OrderFailure | TaskFailure, string>>

/** Why money of an order came, went back or settled nothing, in its history. */
export const MONEY_REASONS = [
  'refund',
  'chargeback',
  'dispute_won',
  'refund_failed',
  'paid_more',
  'order_refunded',
  'renewal_not_sold',
  'renewal_too_late'
] as const
export type MoneyReason = (typeof MONEY_REASONS)[number]

/** The events in an order's history. */
export const ORDER_EVENTS = [
  'placed',
  'pay',
  'time_out',
  'cancel',
  'fail',
  'start_delivery',
  'deliver_part',
  /** An agent refused the order's addresses. Repeated only if its message changes. */
  'delivery_refused',
  /** Addresses wait for a server that does not answer, or to be replaced. */
  'delivery_waits',
  /** The obstacle to the delivery is gone. */
  'delivery_resumed',
  'deliver_all',
  'expire',
  'revive',
  'reopen',
  'refund',
  'restore',
  'await_payment',
  'leased',
  'reservation_ended',
  'paid_again',
  'payment_held',
  'payment_applied',
  'payment_ignored',
  'payment_refunded',
  'payment_restored',
  'refund_requested',
  'renewed',
  'grace_ended',
  'partly_refunded',
  'moved',
  'credited',
  'expiry_set',
  'task_requested',
  'task_begun',
  'task_done',
  'task_failed',
  'deleted'
] as const
export type OrderEventKind = (typeof ORDER_EVENTS)[number]

export const ORDER_TASKS = ['deliver', 'check', 'change', 'reset'] as const
export type OrderTask = (typeof ORDER_TASKS)[number]

/** Why a paid order has a problem. Customers get no parameters that name a server or quote one. */
export const OrderFail = z.object({
  code: z.enum(Object.keys(ORDER_FAILURES) as [OrderFailure, ...OrderFailure[]]),
  params: ReasonParams
})

/** The names at the time of purchase, even if the plan has been renamed since. */
export const OrderNames = z.object({
  product_name: z.string(),
  variant_name: z.string(),
  acl_names: z.array(z.string())
})

export const Order = z.object({
  id: z.number(),
  order_id: z.string(),
  order_number: z.string().nullable(),
  shopify_order_id: z.string().nullable(),
  shopify_order_number: z.string().nullable(),
  username: z.string(),
  uid: z.number(),
  email: z.string(),
  product_id: z.number(),
  product_name: z.string(),
  variant_name: z.string(),
  variant_id: z.number(),
  /** The customer's own words. */
  label: z.string().nullable(),
  note: z.string().nullable(),
  product_quantity: z.number(),
  amount: Money,
  /** The sum of all payments: purchase and renewals. */
  pay_amount: Money.nullable(),
  /** The payment for the current term: the purchase or the latest renewal. Before payment, the price. */
  last_amount: Money,
  /** The refunded part of `pay_amount`. */
  refunded_amount: Money,
  pay_status: z.union([z.literal(0), z.literal(1)]),
  state: z.enum(ORDER_STATES),
  is_expired: z.boolean(),
  created_at: Time,
  /** When all addresses first worked. */
  delivered_at: Time.nullable(),
  /** Seconds from payment to `delivered_at`. */
  delivery_seconds: z.number().nullable(),
  /** Null until the order is delivered, when its term starts. */
  expired_at: Time.nullable(),
  /** For an expired order: until when it can be renewed with the same proxies. Its addresses may be held longer. */
  grace_until: Time.nullable(),
  /** Days that a renewal adds, by the current plan. */
  renewal_days: z.number(),
  /** It ended before delivery, or with unserved paid time. An administrator may reopen it. */
  can_reopen: z.boolean(),
  /** It holds or reserves addresses, so an administrator cannot delete it; false for customers. */
  holds_addresses: z.boolean(),
  reset_time: Time.nullable(),
  /** How often the customer may still change the addresses this term; null: unlimited. 0: not now. */
  changes_left: z.number().nullable(),
  /** How often per term; null: unlimited, 0: not allowed by the operator. */
  changes_per_term: z.number().nullable(),
  /** The same for the password. */
  resets_left: z.number().nullable(),
  resets_per_term: z.number().nullable(),
  /** The English sentence of `fail`. */
  fail_reason: z.string().nullable(),
  fail: OrderFail.nullable(),
  /** Ids of the access rules, comma-separated; `acl_names` has their names. */
  acl_selected: z.string(),
  acl_names: z.array(z.string()),
  /** The names in another language, if there are translations; see `OrderNames`. */
  translations: z.object({ 'zh-CN': OrderNames }).optional(),
  proxy_num: z.number(),
  address_family: OrderFamily,
  egress: EgressMode,
  delivery_num: z.number(),
  /** The running task; `task_fail` is why the last one failed. */
  task: z.enum(ORDER_TASKS).nullable(),
  /** Proxies that a running check has done. */
  task_done: z.number().nullable(),
  /** It waits for a server that is unreachable or refuses changes, and continues when that is over. */
  task_waits: z.boolean(),
  /** The English sentence of `task_fail`. */
  task_error: z.string().nullable(),
  task_fail: z
    .object({
      code: z.enum(Object.keys(TASK_FAILURES) as [TaskFailure, ...TaskFailure[]]),
      params: ReasonParams
    })
    .nullable(),
  /** The platform says that its payment, or that of a renewal, is on its way: pending with its provider, or not captured. */
  payment_pending: z.boolean(),
  /** Where an unpaid order can still be paid. */
  checkout_url: z.string().nullable(),
  /** The discount on `amount` of the code in that link. */
  discount: LevelDiscount.nullable(),
  reserved_until: Time.nullable()
})
export type Order = z.infer<typeof Order>

export const Proxy = z.object({
  id: z.number(),
  ip: z.string(),
  port: z.number(),
  username: z.string(),
  password: z.string(),
  /** Null: not checked yet. */
  status: z.boolean().nullable(),
  bing_delay: z.number().nullable(),
  google_delay: z.number().nullable(),
  amazon_delay: z.number().nullable(),
  created_at: Time,
  updated_at: Time,
  /**
   * The host name for TLS (`https://` proxies), if its server offers that. `leads`: the name resolves to its address;
   * otherwise clients must be given the address.
   */
  https: z.object({ host: z.string(), leads: z.boolean() }).nullable()
})
export type Proxy = z.infer<typeof Proxy>

/**
 * Proxies as `ip:port:user:password`. `https_hosts`, if a server of the order offers TLS: the host name of each, in the
 * same order; null: none.
 */
export const ProxyLines = z.object({
  proxy_lines: z.array(z.string()),
  proxy_count: z.number(),
  https_hosts: z.array(z.string().nullable()).optional()
})
export type ProxyLines = z.infer<typeof ProxyLines>

/** Empty deletes the text; missing leaves it unchanged. */
const ownText = (max: number) =>
  z
    .string()
    .trim()
    .max(max, message('at_most_characters', { max }))
    .refine(storable, message('forbidden_character'))
    .nullish()
    .transform(value => (value === undefined ? undefined : value || null))

/** A customer's label and note on an order. */
export const OrderLabel = z.object({
  // Kept on one line everywhere.
  label: ownText(LABEL_LENGTH).transform(value => value && value.replaceAll(/\s+/g, ' ')),
  note: ownText(NOTE_LENGTH)
})
export type OrderLabel = z.infer<typeof OrderLabel>

export const Statistics = z.object({
  total: z.number(),
  paid: z.number(),
  unpaid: z.number(),
  today: z.number(),
  totalAmount: Money,
  monthlyAmount: Money,
  dailyAmount: Money
})

/** A Unix timestamp in milliseconds, or in seconds if it is too small for milliseconds. Output: milliseconds. */
const Timestamp = z
  .union(
    [
      z.int(message('select_expiry')),
      z
        .string()
        .regex(/^\d{9,14}$/)
        .transform(Number)
    ],
    { error: message('select_expiry') }
  )
  .transform(value => (value < 100_000_000_000 ? value * 1000 : value))
  .refine(value => value > 0, message('select_expiry'))
  .refine(value => value < Date.UTC(2100), message('expiry_too_late'))

/** `ends_at`: the order's end as shown; refused as stale if it has changed. Scripts may omit it. */
export const ExtendForm = z.object({ expired_at: Timestamp, ends_at: Time.optional(), ...customerNote })

/** Time credited to an order for an outage. */
export const OutageCredit = z.object({
  at: Time,
  seconds: z.number(),
  /** The outage's period. */
  from: Time,
  to: Time,
  incident: z.object({ id: z.number(), title: z.string() }).nullable()
})
export type OutageCredit = z.infer<typeof OutageCredit>

/** Days to add to the end that the form showed, so that sending twice adds them once. */
export const CreditForm = z.object({
  days: z
    .union(
      [
        z.int(),
        z
          .string()
          .trim()
          .regex(/^\d{1,3}$/)
          .transform(Number)
      ],
      { error: message('enter_days') }
    )
    .pipe(z.int(message('enter_days')).min(1, message('enter_days')).max(366, message('enter_days'))),
  note: text(message('enter_reason'), 500),
  /** The order's end as shown. */
  ends_at: Instant(message('needs_end')),
  ...customerNote
})

/** Without an amount, everything left of the payment is refunded. */
export const RefundForm = z.object({
  amount: z
    .union([z.literal('').transform(() => undefined), MoneyInput()], { error: message('must_be_amount') })
    .optional()
    .refine(value => value === undefined || toCents(value) > 0n, message('must_be_above_zero')),
  /** '#1001': the payment to refund; by default the purchase. */
  platform_order: optionalText(100)
})

/** Without an amount, all that is left is given back. */
export const LARGE_REFUND = {
  asks: ({ amount }: { amount?: string | undefined }, { refundsFrom }: ConfirmLimits) =>
    amount === undefined || Number(amount) >= refundsFrom
}

/**
 * What a refund ends. `lease`: the proxies stop. `term`: the renewal's days are removed. `term_and_lease`: nothing is
 * left of the time without them, so the proxies stop. `grace`: the time was over, and the addresses are held for less
 * time. `failure`: the order failed with this payment, and waits for another one. `nothing`: a partial refund, or a
 * payment that bought nothing or nothing that remains.
 */
export const REFUND_ENDS = ['lease', 'term', 'term_and_lease', 'grace', 'failure', 'nothing'] as const
/** What a refund would do now. */
export const RefundPlan = z.object({
  /** Covers the payment, its refunds, the amount and what ends. If any has changed, the refund is refused. */
  version: z.string(message('needs_version')),
  /** In `currency`. */
  amount: Money,
  currency: z.string(),
  platform_order: z.string(),
  /** '15.40 GBP': the part that was paid by a manual method, such as a bank deposit. The shop has to send it by itself. */
  by_hand: z.string().nullable(),
  ends: z.enum(REFUND_ENDS),
  /** Live proxies that stop working. */
  proxies: z.number(),
  /** Days of the renewal that are removed, rounded up. */
  days: z.number(),
  /** For `term_and_lease` and `grace`: until when the addresses are held for a renewal; null: they are released. */
  held_until: Time.nullable()
})
export type RefundPlan = z.infer<typeof RefundPlan>

const openOrders = {
  /** Placed and reserved, awaiting payment. */
  unpaid: z.number(),
  /** Paid, with proxies or waiting for them. */
  live: z.number()
}
/** A product's orders that have not ended, in total and by variant. Variants without any are omitted. */
export const ProductOrders = z.object({
  ...openOrders,
  variants: z.array(z.object({ id: z.number(), ...openOrders }))
})
export type ProductOrders = z.infer<typeof ProductOrders>

export const RenewalCheckout = z.object({
  checkout_url: z.string(),
  /** The term it buys, by the current plan. */
  days: z.number(),
  /** The platform's current price for that term, before codes; null if it did not answer. */
  price: Money.nullable(),
  /** The discount of the link's code. */
  discount: LevelDiscount.nullable()
})
