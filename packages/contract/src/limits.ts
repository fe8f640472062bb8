// Plain figures and names, apart from the shapes: the browser takes them without the validation library.

/** Minutes that a placed order holds its addresses, and that the payment dialog counts down. */
export const RESERVATION_MINUTES = 30

export const LEVEL_NAMES = ['Newcomer', 'Member', 'Silver', 'Gold', 'Platinum', 'Diamond'] as const
/** Stands for 'there is no next level'. */
export const NO_NEXT_LEVEL = 99_999

/** What a customer's API key may be allowed to do. */
export const API_KEY_SCOPES = ['read', 'renew', 'webhooks'] as const

/** The sites that a check asks through each proxy. */
export const CHECK_SITES = ['google', 'bing', 'amazon'] as const
export type CheckSite = (typeof CHECK_SITES)[number]
/** What the latest check of a proxy found. */
export const PROXY_STATUSES = ['available', 'unavailable', 'unchecked'] as const
export type ProxyStatus = (typeof PROXY_STATUSES)[number]

/** The most characters of a customer's own words for an order. */
export const LABEL_LENGTH = 60
export const NOTE_LENGTH = 500

/** Orders whose renewals one call asks for. */
export const MOST_RENEWALS = 50
/** Calls that one key may make in a minute. */
export const API_KEY_CALLS_A_MINUTE = 120
