/** The server's domains, highest first. A domain may import only later ones. `audit` reads infra's own table. */
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
  'provisioning',
  'traffic',
  'convergence',
  'certificates',
  'proofs',
  'servers',
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
