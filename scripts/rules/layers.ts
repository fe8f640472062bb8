/**
 * The server's domains from highest to lowest. A domain may import only those after it. `audit` reads only infra's own
 * table.
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

/** Tests, fixtures and test helpers may import anything. */
export const NOT_SHIPPED = [
  '\\.(test|fixture|matrix)\\.tsx?$',
  '/fixtures\\.ts$',
  '/testing/',
  '^apps/agent/test/',
  '^(bench|e2e|scripts)/'
]
