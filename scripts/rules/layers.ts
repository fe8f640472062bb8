/**
 * The domains of the server from the highest to the lowest: one may import those that come after it, never one before
 * it. `audit` reads infra's own table only.
 */
export const DOMAINS = [
  'home',
  'chat',
  'reconciliation',
  'inbox',
  'statements',
  'payments',
  'delivery',
  'orders',
  'bulk',
  'status',
  'catalog',
  'promotions',
  'commerce',
  'fleet',
  'inventory',
  'rewards',
  'support',
  'webhooks',
  'accounts',
  'notices',
  'mail',
  'retention',
  'settings',
  'audit'
] as const

/** Tests, fixtures and test helpers: they may reach anywhere. */
export const NOT_SHIPPED = [
  '\\.(test|fixture|matrix)\\.tsx?$',
  '/fixtures\\.ts$',
  '/testing/',
  '^apps/agent/test/',
  '^(bench|e2e|scripts)/'
]
