import { z } from 'zod'
import { listQuery, page } from './list.ts'
import { message } from './form-messages.ts'
import { CreditForm, Order, Proxy } from './order.ts'
import { route } from './route.ts'
import { SERVER_STATUSES } from './servers.ts'
import { IdParams, Time, queryInt, IdName } from './shapes.ts'

/**
 * Where an entry of an order's timeline was written down: its history, the platform's events, the mails, the audit log, or the
 * console's own tries of its credentials.
 */
export const STORY_SOURCES = ['order', 'platform', 'mail', 'admin', 'proof'] as const
export type TimelineSource = (typeof STORY_SOURCES)[number]

/** One thing that happened to an order, or about it. */
export const TimelineEntry = z.object({
  source: z.enum(STORY_SOURCES),
  /** Its id among those of its source. */
  id: z.number(),
  at: Time,
  /** The order's event, what came of the platform's event, the mail's template, the audited action, or `kind.state` of a try. */
  kind: z.string(),
  detail: z.record(z.string(), z.unknown()),
  /** Who did it; null: the customer, the platform or the shop itself. */
  actor: z.string().nullable(),
  /** Whom the actor viewed the shop as. */
  viewed_as: z.string().nullable(),
  /** A mail that failed for good and can be sent again. */
  can_resend: z.boolean()
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

export const PROXY_STATES = ['pending', 'live', 'retired'] as const

/** An address of an order, as operators see it: with its server, without its password. */
export const OrderProxy = Proxy.omit({ username: true, password: true, updated_at: true, https: true }).extend({
  /** pending: its agent has not confirmed it yet. retired: given back. */
  state: z.enum(PROXY_STATES),
  server_id: z.number(),
  server: z.string(),
  server_status: z.enum(SERVER_STATUSES),
  checked_at: Time.nullable(),
  /** When its agent confirmed it for the first time. */
  live_at: Time.nullable()
})
export type OrderProxy = z.infer<typeof OrderProxy>

/** An outage that kept an order from being served, and was not credited to it. */
export const LostTime = z.object({
  outage_id: z.number(),
  server: IdName,
  from: Time,
  /** null: it lasts. */
  to: Time.nullable(),
  /** What the order lost by it so far, each moment of several outages once. */
  seconds: z.number()
})
export type LostTime = z.infer<typeof LostTime>

const O = '/api/orders/order_list'

export const orderPage = {
  order: route('GET', `${O}/:id/`, {
    summary: 'One order',
    access: 'admin',
    permission: 'orders.view',
    params: IdParams,
    reply: Order
  }),
  lostTime: route('GET', `${O}/:id/lost_time/`, {
    summary:
      'Outages of the last 90 days that cost an order time which it was not given back, at most 20, newest first',
    access: 'admin',
    permission: 'orders.view',
    params: IdParams,
    reply: z.array(LostTime)
  }),
  credit: route('POST', `${O}/:id/credit/`, {
    summary: 'Give an order whose time runs more days, with a reason',
    access: 'admin',
    permission: 'orders.change',
    params: IdParams,
    body: CreditForm,
    reply: Order
  }),
  proxies: route('GET', `${O}/:id/proxies/`, {
    summary: "An order's addresses with their servers and states, without passwords; found by address",
    access: 'admin',
    permission: 'orders.view',
    params: IdParams,
    query: listQuery({ sort: ['id'], order: 'asc', filters: { retired: z.enum(['0', '1']).optional() } }),
    reply: page(OrderProxy)
  }),
  timeline: route('GET', `${O}/:id/timeline/`, {
    summary:
      "What happened to an order, newest first: its history, the platform's events, its mails and what operators did to it",
    access: 'admin',
    permission: 'orders.view',
    params: IdParams,
    query: z.object({
      limit: queryInt(1, 200, message('limit_range', { min: 1, max: 200 })).default(50),
      /** The `next` of a reply: what happened before its last entry. */
      earlier: z
        .string()
        .regex(/^\d{1,16}\.\d\.\d{1,15}$/)
        .optional()
    }),
    reply: z.object({ data: z.array(TimelineEntry), next: z.string().nullable() })
  })
}
