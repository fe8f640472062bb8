import { z } from 'zod'
import { listQuery, page } from './list.ts'
import { message } from './form-messages.ts'
import { CreditForm, Order, Proxy } from './order.ts'
import { route } from './route.ts'
import { SERVER_STATUSES } from './servers.ts'
import { IdParams, Time, queryInt, IdName } from './shapes.ts'

/** Where a timeline entry comes from: history, platform events, mails, audit log, or tests of credentials. */
export const STORY_SOURCES = ['order', 'platform', 'mail', 'admin', 'proof'] as const
export type TimelineSource = (typeof STORY_SOURCES)[number]

/** An event of an order. */
export const TimelineEntry = z.object({
  source: z.enum(STORY_SOURCES),
  /** Its id within the source. */
  id: z.number(),
  at: Time,
  /** The order's event, a platform event's outcome, the mail's template, the audited action, or `kind.state`. */
  kind: z.string(),
  detail: z.record(z.string(), z.unknown()),
  /** Who did it; null: the customer, the platform or the shop. */
  actor: z.string().nullable(),
  /** The user that the actor was viewing the shop as. */
  viewed_as: z.string().nullable(),
  /** A mail that failed permanently and can be sent again. */
  can_resend: z.boolean()
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

export const PROXY_STATES = ['pending', 'live', 'retired'] as const

/** An order's address for operators: with its server, without its password. */
export const OrderProxy = Proxy.omit({ username: true, password: true, updated_at: true, https: true }).extend({
  /** `pending`: its agent has not confirmed it. `retired`: returned. */
  state: z.enum(PROXY_STATES),
  server_id: z.number(),
  server: z.string(),
  server_status: z.enum(SERVER_STATUSES),
  checked_at: Time.nullable(),
  /** When its agent first confirmed it. */
  live_at: Time.nullable()
})
export type OrderProxy = z.infer<typeof OrderProxy>

/** An outage that affected an order and was not credited to it. */
export const LostTime = z.object({
  outage_id: z.number(),
  server: IdName,
  from: Time,
  /** Null: it continues. */
  to: Time.nullable(),
  /** The order's lost time so far. Overlapping outages count once. */
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
    summary: 'Uncredited outages of an order in the last 90 days, newest first, at most 20',
    access: 'admin',
    permission: 'orders.view',
    params: IdParams,
    reply: z.array(LostTime)
  }),
  credit: route('POST', `${O}/:id/credit/`, {
    summary: 'Add days to a running order, with a reason',
    access: 'admin',
    permission: 'orders.change',
    params: IdParams,
    body: CreditForm,
    reply: Order
  }),
  proxies: route('GET', `${O}/:id/proxies/`, {
    summary: "An order's addresses with servers and states, without passwords; search by address",
    access: 'admin',
    permission: 'orders.view',
    params: IdParams,
    query: listQuery({ sort: ['id'], order: 'asc', filters: { retired: z.enum(['0', '1']).optional() } }),
    reply: page(OrderProxy)
  }),
  timeline: route('GET', `${O}/:id/timeline/`, {
    summary: "Timeline of an order, newest first: history, platform events, emails and operators' actions",
    access: 'admin',
    permission: 'orders.view',
    params: IdParams,
    query: z.object({
      limit: queryInt(1, 200, message('limit_range', { min: 1, max: 200 })).default(50),
      /** The `next` of a reply: entries before its last one. */
      earlier: z
        .string()
        .regex(/^\d{1,16}\.\d\.\d{1,15}$/)
        .optional()
    }),
    reply: z.object({ data: z.array(TimelineEntry), next: z.string().nullable() })
  })
}
