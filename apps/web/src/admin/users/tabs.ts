/** The tabs of a user's page, as its address names them. */
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
