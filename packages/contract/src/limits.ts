// Figures and names without schemas, so that the browser can import them without the validation library.

/** Minutes for which a placed order holds its addresses. The payment dialog counts them down. */
export const RESERVATION_MINUTES = 30

export const LEVEL_NAMES = ['Newcomer', 'Member', 'Silver', 'Gold', 'Platinum', 'Diamond'] as const

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

/** An order that ends within so many days is expiring soon. */
export const EXPIRING_DAYS = 7
/** Largest number of orders in one renewal call. */
export const MOST_RENEWALS = 50
/** The most days for which an API key is valid; a customer's may have no end. */
export const MOST_KEY_DAYS = 365
/** Days for which an operator's API token is valid unless its maker chooses. */
export const TOKEN_DAYS = 90
/** Calls per minute and key. */
export const API_KEY_CALLS_A_MINUTE = 120
