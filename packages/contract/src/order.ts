import { z } from 'zod'
import { EgressMode, OrderFamily } from './address-family.ts'
import { message } from './form-messages.ts'
import { LABEL_LENGTH, NOTE_LENGTH } from './limits.ts'
import { ORDER_FAILURES, TASK_FAILURES, type OrderFailure, type TaskFailure } from './order-codes.ts'
import { toCents } from './money.ts'
import { LevelDiscount } from './platform-codes.ts'
import { ORDER_STATES } from './states.ts'
import { Money, MoneyInput, ReasonParams, Time, optionalText, storable, text } from './shapes.ts'

export const ORDER_TASKS = ['deliver', 'check', 'change', 'reset'] as const
export type OrderTask = (typeof ORDER_TASKS)[number]

/** Why a paid order is not as it should be. Customers get no parameter that names a server or quotes one. */
export const OrderFail = z.object({
  code: z.enum(Object.keys(ORDER_FAILURES) as [OrderFailure, ...OrderFailure[]]),
  params: ReasonParams
})

/** A plan that was renamed since it was bought is called as it was bought, in every language. */
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
  /** Its customer's own words for it. */
  label: z.string().nullable(),
  note: z.string().nullable(),
  product_quantity: z.number(),
  amount: Money,
  /** What all of its payments brought: its purchase and its renewals. */
  pay_amount: Money.nullable(),
  /** What its running term was paid with: its purchase, or its latest renewal. What it costs, until it is paid. */
  last_amount: Money,
  /** What of `pay_amount` was given back. */
  refunded_amount: Money,
  pay_status: z.union([z.literal(0), z.literal(1)]),
  state: z.enum(ORDER_STATES),
  is_expired: z.boolean(),
  created_at: Time,
  /** When all addresses worked for the first time. */
  delivered_at: Time.nullable(),
  /** Seconds from its payment until then. */
  delivery_seconds: z.number().nullable(),
  /** Null until the order is delivered: its term starts then. */
  expired_at: Time.nullable(),
  /** An expired order: until then it can be renewed, and gets the same proxies back. Its addresses may be held for longer. */
  grace_until: Time.nullable(),
  /** Days that a renewal adds, as its plan is sold today. */
  renewal_days: z.number(),
  /** It ended before it worked, or with time that is paid for and was not served: an administrator may reopen it. */
  can_reopen: z.boolean(),
  /** It holds addresses, reserved ones too, so that an administrator cannot delete it; false for customers. */
  holds_addresses: z.boolean(),
  reset_time: Time.nullable(),
  /** How often its customer may change its addresses in this term; null: without a limit. 0: not now. */
  changes_left: z.number().nullable(),
  /** How often in a term at all; null: without a limit, 0: the operator does not allow it. */
  changes_per_term: z.number().nullable(),
  /** The same for its password. */
  resets_left: z.number().nullable(),
  resets_per_term: z.number().nullable(),
  /** The English sentence of `fail`. */
  fail_reason: z.string().nullable(),
  fail: OrderFail.nullable(),
  /** Ids of the access rules, comma-separated, with their names beside. */
  acl_selected: z.string(),
  acl_names: z.array(z.string()),
  /** The same names in another language, as far as the plan and its rules have any there; see `OrderNames`. */
  translations: z.object({ 'zh-CN': OrderNames }).optional(),
  proxy_num: z.number(),
  address_family: OrderFamily,
  egress: EgressMode,
  delivery_num: z.number(),
  /** The piece of work that runs on this order now, and how the last one failed. */
  task: z.enum(ORDER_TASKS).nullable(),
  /** Proxies that a running check has done. */
  task_done: z.number().nullable(),
  /** It waits for a server that does not answer or takes no changes, and is done once that does. */
  task_waits: z.boolean(),
  /** The English sentence of `task_fail`. */
  task_error: z.string().nullable(),
  task_fail: z
    .object({
      code: z.enum(Object.keys(TASK_FAILURES) as [TaskFailure, ...TaskFailure[]]),
      params: ReasonParams
    })
    .nullable(),
  /** Where an unpaid order can still be paid. */
  checkout_url: z.string().nullable(),
  /** What the code in that link takes off `amount`. */
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
  /** null: not checked yet. */
  status: z.boolean().nullable(),
  bing_delay: z.number().nullable(),
  google_delay: z.number().nullable(),
  amazon_delay: z.number().nullable(),
  created_at: Time,
  updated_at: Time,
  /**
   * By which name it is reached over TLS (`https://` proxies), where its server offers that. `leads`: the name leads to its address;
   * otherwise a client has to be told where it is.
   */
  https: z.object({ host: z.string(), leads: z.boolean() }).nullable()
})
export type Proxy = z.infer<typeof Proxy>

/**
 * Proxies as `ip:port:user:password`. `https_hosts`, where a server of the order speaks TLS to clients: by which name each of them, in
 * the same order, is reached so; null: by none.
 */
export const ProxyLines = z.object({
  proxy_lines: z.array(z.string()),
  proxy_count: z.number(),
  https_hosts: z.array(z.string().nullable()).optional()
})
export type ProxyLines = z.infer<typeof ProxyLines>

/** An emptied text is none; one that is left out stays as it is. */
const ownText = (max: number) =>
  z
    .string()
    .trim()
    .max(max, message('at_most_characters', { max }))
    .refine(storable, message('forbidden_character'))
    .nullish()
    .transform(value => (value === undefined ? undefined : value || null))

/** What a customer calls an order, and what it writes down about it. */
export const OrderLabel = z.object({
  // It stands in one line wherever it is shown.
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

/** A Unix timestamp; milliseconds, or seconds where it is too small for milliseconds. Output: milliseconds. */
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

/** `ends_at`: when the order ends, as it was shown; refused as stale where it has changed. Scripts may leave it out. */
export const ExtendForm = z.object({ expired_at: Timestamp, ends_at: Time.optional() })

/** Time that an order was given back for an outage. */
export const OutageCredit = z.object({
  at: Time,
  seconds: z.number(),
  /** The outage, from and to. */
  from: Time,
  to: Time,
  incident: z.object({ id: z.number(), title: z.string() }).nullable()
})
export type OutageCredit = z.infer<typeof OutageCredit>

/** Days that are added to the end that the form was opened with: sent twice, it adds them once. */
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
  /** When the order ends, as it was shown. */
  ends_at: Time
})

/** Without an amount all that is left of the payment is given back. */
export const RefundForm = z.object({
  amount: z
    .union([z.literal('').transform(() => undefined), MoneyInput()], { error: message('must_be_amount') })
    .optional()
    .refine(value => value === undefined || toCents(value) > 0n, message('must_be_above_zero')),
  /** '#1001': which payment of the order; by default its purchase. */
  platform_order: optionalText(100)
})

/**
 * What a refund ends: `lease`: its proxies stop working; `term`: days that the renewal added are taken back; `term_and_lease`:
 * nothing is left of the time without them, so that its proxies stop working; `grace`: its time was over already, and its
 * addresses are held less long; `nothing`: a part of a payment, or one that bought nothing, or nothing that is left.
 */
export const REFUND_ENDS = ['lease', 'term', 'term_and_lease', 'grace', 'nothing'] as const
/** What a refund would do if it were asked for now. */
export const RefundPlan = z.object({
  /** Of the payment, its refunds, the amount and what ends: a refund that is asked for with it is made only while all of that is as this plan says. */
  version: z.string(),
  /** In `currency`. */
  amount: Money,
  currency: z.string(),
  platform_order: z.string(),
  ends: z.enum(REFUND_ENDS),
  /** Live proxies that stop working. */
  proxies: z.number(),
  /** Days of the renewal that it takes back, begun ones as whole. */
  days: z.number(),
  /** Of `term_and_lease` and `grace`: until when its addresses are held for a renewal; null: they are given back. */
  held_until: Time.nullable()
})
export type RefundPlan = z.infer<typeof RefundPlan>

const openOrders = {
  /** Placed, and held for their payment. */
  unpaid: z.number(),
  /** Paid, with proxies or waiting for them. */
  live: z.number()
}
/** Orders of a product that have not ended, and by variant: variants without any are left out. */
export const ProductOrders = z.object({
  ...openOrders,
  variants: z.array(z.object({ id: z.number(), ...openOrders }))
})
export type ProductOrders = z.infer<typeof ProductOrders>
