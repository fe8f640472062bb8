/** The tabs of a user's page, as in its address. */
export const TABS = [
  'summary',
  'orders',
  'payments',
  'points',
  'traffic',
  'keys',
  'webhooks',
  'sessions',
  'logins',
  'tickets',
  'audit'
] as const
export type TabName = (typeof TABS)[number]
