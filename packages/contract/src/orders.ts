import { z } from 'zod'
import { clientAccess } from './client-access.ts'
import { CustomerNote, customerNote } from './customer-note.ts'
import { message } from './form-messages.ts'
import { DELIVERED_IN, ORDER_STATES } from './states.ts'
import { CHECK_SITES, MOST_RENEWALS, PROXY_STATUSES } from './limits.ts'
import { Selection } from './products.ts'
import { MoveOrderForm } from './servers.ts'
import { orderPage } from './order-page.ts'
import { receiptRoutes } from './receipts.ts'
import { OrderTraffic, Traffic, TrafficQuery } from './traffic.ts'
import { LevelDiscount } from './platform-codes.ts'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'
import { Day, Done, Id, IdList, IdParams, Instant, Money, Month, ReasonParams, Search, Task, Time } from './shapes.ts'
import {
  ExtendForm,
  LARGE_REFUND,
  Order,
  OrderFail,
  OrderLabel,
  OutageCredit,
  ProductOrders,
  Proxy,
  ProxyLines,
  RefundForm,
  RefundPlan,
  RenewalCheckout,
  Statistics
} from './order.ts'

const O = '/api/orders/order_list'
/** Each attribute of a checkout may have 100,000 characters, and an order hundreds of lines. One refused for its size is lost. */
const WEBHOOK_BYTES = 8 * 1024 * 1024
const noBody = z.object({}).optional()
const OrderKey = z.string().regex(/^[A-Za-z0-9-]{4,40}$/, message('unknown_order'))

/** Proxies on the largest page of a screen. */
const MOST_SHOWN = 200

export const orders = {
  ...orderPage,
  ...clientAccess,
  ...receiptRoutes,
  checkout: route('POST', '/api/orders/checkout', {
    summary:
      'Place an order: reserves its addresses for 30 minutes and returns the checkout link. An Idempotency-Key lasts 24 hours. A refusal `out_of_stock` names the rules that are out of stock (`data.short`) and the stock they share (`data.stock`)',
    access: 'user',
    idempotencyKey: 'optional',
    body: z.object({
      product_id: Id,
      quantity: z.union(
        [
          // Far more than any server group has. Larger numbers do not fit the column.
          z.int(message('quantity_whole')).max(999_999, message('quantity_too_large')),
          z
            .string()
            .regex(/^\d{1,6}$/, message('quantity_step'))
            .transform(Number)
        ],
        { error: message('quantity_step') }
      ),
      option_selected: Selection
    }),
    reply: z.object({
      checkout_url: z.string(),
      id: z.number(),
      order_id: z.string(),
      expires_at: Time,
      /** The price when it was placed, before any discount code. */
      amount: z.string(),
      /** The discount of the link's code on that amount. */
      discount: LevelDiscount.nullable()
    })
  }),
  limits: route('GET', '/api/orders/limits', {
    summary: 'Maximum number of addresses per order',
    access: 'public',
    reply: z.object({ addresses: z.number() })
  }),
  payment: route('GET', '/api/orders/checkout', {
    summary: 'Payment status of an order',
    access: 'user',
    query: z.object({ order_id: OrderKey }),
    reply: z.object({
      status: z.enum(['pending', 'success', 'timeout']),
      /** Cancelled by its customer or an operator, and not paid since. */
      is_cancelled: z.boolean(),
      /** See `Order`. It stays `pending` for some days then. */
      payment_pending: z.boolean(),
      pay_status: z.union([z.literal(0), z.literal(1)]),
      delivery_num: z.number(),
      proxy_num: z.number(),
      /** Why the received payment does not pay for the order, which stays `pending` while it is reserved. */
      fail: OrderFail.nullable()
    })
  }),
  payWebhook: route('POST', '/api/orders/pay_webhook', {
    summary:
      "The platform's webhooks about money: orders created, paid and cancelled, refunds, transactions, disputes (signed)",
    access: 'public',
    rawBody: true,
    bodyLimit: WEBHOOK_BYTES,
    body: z.unknown(),
    reply: Done
  }),
  productWebhook: route('POST', '/api/orders/product_webhook', {
    summary: "The platform's products/* webhooks (signed)",
    access: 'public',
    rawBody: true,
    bodyLimit: WEBHOOK_BYTES,
    body: z.unknown(),
    reply: Done
  }),
  credits: route('GET', `${O}/:id/credits/`, {
    summary: 'Time credited to an order for outages, with each incident',
    access: 'user',
    permission: 'orders.view',
    scope: 'read',
    params: IdParams,
    reply: z.array(OutageCredit)
  }),
  statistics: route('GET', '/api/orders/statistics', {
    summary: 'Order statistics',
    access: 'admin',
    permission: 'orders.view',
    reply: Statistics
  }),
  ofProduct: route('GET', '/api/orders/of_product/:id/', {
    summary: 'Orders of a product that have not ended',
    access: 'admin',
    permission: 'orders.view',
    params: IdParams,
    reply: ProductOrders
  }),
  search: route('GET', '/api/orders/search', {
    summary: 'Orders; search by ID, user or product',
    access: 'admin',
    permission: 'orders.view',
    exports: 'order',
    query: listQuery({
      sort: ['id', 'expired_at', 'amount'],
      filters: { order_id: Search, username: Search, product_name: Search }
    }),
    reply: page(Order)
  }),
  export: route('GET', '/api/orders/export', {
    summary: 'Orders as CSV',
    access: 'admin',
    permission: 'orders.view',
    query: z.object({ order_ids: IdList.optional() }),
    reply: z.string(),
    raw: 'text/csv'
  }),
  exportSelected: route('POST', '/api/orders/export', {
    summary: 'Selected orders as CSV, for selections too long for a URL',
    access: 'admin',
    permission: 'orders.view',
    body: z.object({ order_ids: z.array(Id).min(1, message('must_select')).max(10_000, message('too_many_ids')) }),
    reply: z.string(),
    raw: 'text/csv'
  }),
  list: route('GET', `${O}/`, {
    summary: 'Your orders, or all orders for operators',
    access: 'user',
    permission: 'orders.view',
    exports: 'order',
    scope: 'read',
    query: listQuery({
      // Sorted by `delivery_seconds`, an administrator's list covers 7 days, or the time of `delivered_in`.
      sort: ['id', 'expired_at', 'amount', 'delivery_seconds'],
      filters: {
        order_id: Search,
        product_name: Search,
        username: Search,
        /** Exactly this user's orders. Only administrators see others'. */
        user_id: Id.optional(),
        product_type: Id.optional(),
        pay_status: z.enum(['0', '1']).optional(),
        state: z.enum(ORDER_STATES).optional(),
        /** Paid with nothing delivered, though it should be. */
        problem: z.enum(['1']).optional(),
        /** Paid, and served or in delivery. */
        live: z.enum(['1']).optional(),
        /** Served, and ends on this day (UTC). */
        ends_on: Day().optional(),
        /** Own orders only: the proxies stop within `EXPIRING_DAYS`, or have stopped and can still be renewed. */
        expiring: z.enum(['1']).optional(),
        /** Own orders only: placed at or after the first instant, and before the second. */
        placed_from: Instant().optional(),
        placed_until: Instant().optional(),
        /**
         * Administrators only: placed, or paid or renewed, in this period (UTC), if order histories go back that far.
         */
        placed_on: Day().optional(),
        placed_in: Month.optional(),
        paid_on: Day().optional(),
        paid_in: Month.optional(),
        /** Administrators only: all addresses first worked within the last 24 hours or 7 days. */
        delivered_in: z.enum(DELIVERED_IN).optional()
      }
    }),
    reply: page(Order)
  }),
  cancel: route('POST', `${O}/:id/cancel/`, {
    summary: 'Cancel an unpaid order and release its addresses',
    access: 'user',
    permission: 'orders.change',
    params: IdParams,
    body: noBody,
    reply: Done
  }),
  remove: route('DELETE', `${O}/:id/`, {
    summary: 'Delete an order that has no addresses',
    access: 'admin',
    permission: 'orders.delete',
    params: IdParams,
    reply: Done
  }),
  label: route('PUT', `${O}/:id/label/`, {
    summary: 'Set your label and note for an order; omitted fields stay, and empty ones are cleared',
    access: 'user',
    params: IdParams,
    body: OrderLabel,
    reply: Order
  }),
  proxyDetail: route('GET', `${O}/:id/get_proxy_detail/`, {
    summary: "An order's proxies; filter by address, check result, or site that they can or cannot reach",
    access: 'user',
    permission: 'orders.credentials',
    scope: 'read',
    reveals: 'credentials',
    // As an export.
    needsConfirmation: { asks: (_, __, { format, limit }) => format === 'csv' || limit > MOST_SHOWN },
    params: IdParams,
    query: listQuery({
      sort: ['id', 'ip', 'google_delay', 'bing_delay', 'amazon_delay'],
      order: 'asc',
      filters: {
        status: z.enum(PROXY_STATUSES).optional(),
        /** A site that answered the latest check. */
        answers: z.enum(CHECK_SITES).optional(),
        /** A site that did not answer. */
        silent: z.enum(CHECK_SITES).optional()
      }
    }),
    reply: page(Proxy)
      .omit({ data: true })
      .extend({ proxy_list: z.array(Proxy), order: Order })
  }),
  traffic: route('GET', `${O}/:id/traffic/`, {
    summary: "An order's traffic by hour or day, with its refusals, failures and limits",
    access: 'user',
    permission: 'orders.view',
    scope: 'read',
    params: IdParams,
    query: TrafficQuery,
    reply: OrderTraffic
  }),
  userTraffic: route('GET', '/api/users/u/:id/traffic/', {
    summary: "Traffic of all of a user's orders",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    query: TrafficQuery,
    reply: Traffic
  }),
  resetPassword: route('POST', `${O}/:id/reset_proxy_password/`, {
    summary: 'Reset the credentials and keep the addresses; the settings limit this per term for customers',
    access: 'user',
    permission: 'orders.change',
    params: IdParams,
    body: CustomerNote.optional(),
    reply: Task
  }),
  check: route('GET', `${O}/:id/check_proxy/`, {
    summary: "Check an order's proxies",
    access: 'user',
    permission: 'orders.change',
    scope: 'read',
    params: IdParams,
    reply: Task
  }),
  change: route('POST', `${O}/:id/reset_proxy/`, {
    summary: 'Change the addresses; the settings limit this per term for customers',
    access: 'user',
    permission: 'orders.change',
    params: IdParams,
    body: CustomerNote.optional(),
    reply: Task
  }),
  deliver: route('POST', `${O}/:id/devery_order/`, {
    summary: 'Deliver what is missing',
    access: 'admin',
    permission: 'orders.change',
    params: IdParams,
    body: noBody,
    reply: Task
  }),
  extend: route('POST', `${O}/:id/update_proxy_expired_at/`, {
    summary: "Set an order's expiry",
    access: 'admin',
    permission: 'orders.change',
    params: IdParams,
    body: ExtendForm,
    reply: Order
  }),
  move: route('POST', `${O}/:id/move/`, {
    summary: "Move an order's addresses to another server or group, all of them or those of one server",
    access: 'admin',
    permission: 'orders.change',
    params: IdParams,
    body: MoveOrderForm,
    reply: Order
  }),
  reopen: route('POST', `${O}/:id/reopen/`, {
    summary: 'Reopen an order that expired undelivered; its term starts on delivery',
    access: 'admin',
    permission: 'orders.change',
    params: IdParams,
    body: noBody,
    reply: Order
  }),
  renew: route('POST', `${O}/:id/order-renew-checkout/`, {
    summary: 'Get the checkout link to renew an order',
    access: 'user',
    permission: 'orders.change',
    scope: 'renew',
    params: IdParams,
    body: noBody,
    reply: RenewalCheckout
  }),
  renewMany: route('POST', '/api/orders/renew/', {
    summary: 'Get the checkout links to renew several orders, or why one cannot be renewed',
    access: 'user',
    permission: 'orders.change',
    scope: 'renew',
    body: z.object({
      order_ids: z
        .array(Id)
        .min(1, message('must_select'))
        .max(MOST_RENEWALS, message('too_many_ids'))
        .transform(ids => [...new Set(ids)])
    }),
    /** In the order of the ids. */
    reply: z.array(
      RenewalCheckout.extend({ id: z.number() }).or(
        z.object({ id: z.number(), reason: z.string(), params: ReasonParams, msg: z.string() })
      )
    )
  }),
  resetMany: route('POST', `${O}/one_key_reset/`, {
    summary: 'Change the addresses of several orders',
    access: 'admin',
    permission: 'orders.change',
    body: z.object({ order_ids: IdList, ...customerNote }),
    reply: z.array(
      Task.extend({ id: z.number() }).or(
        z.object({
          id: z.number(),
          status: z.literal('refused'),
          reason: z.string(),
          params: ReasonParams,
          msg: z.string()
        })
      )
    )
  }),
  exportProxies: route('GET', `${O}/:id/export_proxies/`, {
    summary: 'All proxies of an order as ip:port:username:password lines, with a file name',
    access: 'user',
    permission: 'orders.credentials',
    needsConfirmation: true,
    scope: 'read',
    reveals: 'credentials',
    params: IdParams,
    reply: z.object({ ...ProxyLines.shape, filename: z.string() })
  }),
  copyProxies: route('GET', `${O}/:id/copy_proxies/`, {
    summary: 'All proxies of an order as ip:port:username:password lines',
    access: 'user',
    permission: 'orders.credentials',
    needsConfirmation: true,
    scope: 'read',
    reveals: 'credentials',
    params: IdParams,
    reply: ProxyLines
  }),
  refundPlan: route('GET', `${O}/:id/refund/`, {
    summary: 'Preview a refund: its amount and its effect on the order',
    access: 'admin',
    permission: 'payments.change',
    params: IdParams,
    query: RefundForm,
    reply: RefundPlan
  }),
  refund: route('POST', `${O}/:id/refund/`, {
    summary: "Refund a payment on the platform, in full or in part; the platform's webhook confirms it",
    access: 'admin',
    permission: 'payments.change',
    needsConfirmation: LARGE_REFUND,
    params: IdParams,
    body: RefundForm.extend({ version: RefundPlan.shape.version }),
    reply: z.object({ amount: Money, platform_order: z.string(), by_hand: RefundPlan.shape.by_hand })
  })
}
