// Figures and names without schemas, so that the browser can import them without the validation library.

/** Minutes for which a placed order holds its addresses. The payment dialog counts them down. */
export const RESERVATION_MINUTES = 30

export const LEVEL_NAMES = ['Newcomer', 'Member', 'Silver', 'Gold', 'Platinum', 'Diamond'] as const
/** Means that there is no next level. */
export const NO_NEXT_LEVEL = 99_999

/** The scopes of a customer's API key. */
export const API_KEY_SCOPES = ['read', 'renew', 'webhooks'] as const

/** The sites that a check requests through each proxy. */
export const CHECK_SITES = ['google', 'bing', 'amazon'] as const
export type CheckSite = (typeof CHECK_SITES)[number]
/** The result of a proxy's latest check. */
export const PROXY_STATUSES = ['available', 'unavailable', 'unchecked'] as const
export type ProxyStatus = (typeof PROXY_STATUSES)[number]

/** Largest length in characters of a customer's label and note. */
export const LABEL_LENGTH = 60
export const NOTE_LENGTH = 500

/** Largest number of orders in one renewal call. */
export const MOST_RENEWALS = 50
/** The most days for which an API key is valid; a customer's may have no end. */
export const MOST_KEY_DAYS = 365
/** Days for which an operator's API token is valid unless its maker chooses. */
export const TOKEN_DAYS = 90
/** Calls per minute and key. */
export const API_KEY_CALLS_A_MINUTE = 120

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

/** `lasts`; over and `open`, not credited to any order; or `credited`. */
export const OUTAGE_STATES = ['lasts', 'open', 'credited'] as const
export type OutageState = (typeof OUTAGE_STATES)[number]
