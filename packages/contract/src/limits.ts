// Plain figures and names, apart from the shapes: the browser takes them without the validation library.

/** Minutes that a placed order holds its addresses, and that the payment dialog counts down. */
export const RESERVATION_MINUTES = 30

export const LEVEL_NAMES = ['Newcomer', 'Member', 'Silver', 'Gold', 'Platinum', 'Diamond'] as const
/** Stands for 'there is no next level'. */
export const NO_NEXT_LEVEL = 99_999

/** What a customer's API key may be allowed to do. */
export const API_KEY_SCOPES = ['read', 'renew', 'webhooks'] as const
