/** States that pages list, without the validation library: a page imports them from here. */
export const ORDER_STATES = [
  'placed',
  'timed_out',
  'cancelled',
  'paid',
  'delivering',
  'partly_delivered',
  'delivered',
  'expired',
  'failed',
  'refunded'
] as const
export type OrderState = (typeof ORDER_STATES)[number]

/** States in which an order has addresses that agents serve, or are to serve. */
export const SERVED_STATES = ['delivering', 'partly_delivered', 'delivered'] as const satisfies OrderState[]
/** Has it addresses that agents serve, or are to serve? */
export const isServed = (state: OrderState): boolean => (SERVED_STATES as readonly OrderState[]).includes(state)

/** Within which time before now an order was delivered: 24 hours, or 7 days. */
export const DELIVERED_IN = ['day', 'week'] as const
export type DeliveredIn = (typeof DELIVERED_IN)[number]

/**
 * `waiting` for the mail service to take it. `failed`: it refused for good. `bounced`: it took the mail, which came back.
 * `skipped`: nobody wants, needs or can get it.
 */
export const MAIL_STATES = ['waiting', 'sent', 'bounced', 'failed', 'skipped'] as const
export type MailState = (typeof MAIL_STATES)[number]

/** What a list of servers can be narrowed to. */
export const SERVER_VIEWS = [
  'selling',
  'trouble',
  'unreachable',
  'behind',
  'installing',
  'older',
  'paused',
  'draining',
  'given_up',
  'returning'
] as const
export type ServerView = (typeof SERVER_VIEWS)[number]

/** `open`: nobody has answered. `answered`: its sender was mailed. `closed`: needs nobody any more. */
export const TICKET_STATES = ['open', 'answered', 'closed'] as const
export type TicketState = (typeof TICKET_STATES)[number]

/** `lasts`; over, and `open`: nobody has credited it to an order; or `credited`. */
export const OUTAGE_STATES = ['lasts', 'open', 'credited'] as const
export type OutageState = (typeof OUTAGE_STATES)[number]
