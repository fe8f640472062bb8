/** States for lists, without schemas, so that pages can import them without the validation library. */
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

/** States in which an order has addresses that agents serve or are about to serve. */
export const SERVED_STATES = ['delivering', 'partly_delivered', 'delivered'] as const satisfies OrderState[]
export const isServed = (state: OrderState): boolean => (SERVED_STATES as readonly OrderState[]).includes(state)

/** Delivered within the last 24 hours, or 7 days. */
export const DELIVERED_IN = ['day', 'week'] as const
export type DeliveredIn = (typeof DELIVERED_IN)[number]

/**
 * `waiting` for the mail service. `failed`: refused permanently. `bounced`: accepted, then returned. `skipped`:
 * unwanted, unneeded or undeliverable.
 */
export const MAIL_STATES = ['waiting', 'sent', 'bounced', 'failed', 'skipped'] as const
export type MailState = (typeof MAIL_STATES)[number]

/** Filters of the list of servers. */
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

/** `open`: unanswered. `answered`: the sender was mailed. `closed`: done. */
export const TICKET_STATES = ['open', 'answered', 'closed'] as const
export type TicketState = (typeof TICKET_STATES)[number]
/** What an operator works through: tickets that wait for an answer, those without an assignee, and their own. */
export const TICKET_QUEUES = ['waiting', 'unassigned', 'mine'] as const
export type TicketQueue = (typeof TICKET_QUEUES)[number]

/** `lasts`; over and `open`, not credited to any order; or `credited`. */
export const OUTAGE_STATES = ['lasts', 'open', 'credited'] as const
export type OutageState = (typeof OUTAGE_STATES)[number]
