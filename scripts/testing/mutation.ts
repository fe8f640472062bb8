// Options of Stryker, which mutates pure rules one at a time and lists mutants that no test detects.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Each has tests beside it that need no database. */
export const mutated = [
  'apps/agent/src/net/destinations.ts',
  'apps/agent/src/net/ip.ts',
  'apps/agent/src/proxy/access-table.ts',
  'apps/agent/src/proxy/deny-set.ts',
  'apps/agent/src/proxy/open-clients.ts',
  'apps/agent/src/state/client-list.ts',
  'apps/agent/src/state/quotas.ts',
  'apps/server/src/domains/accounts/levels.ts',
  'apps/server/src/domains/catalog/whole-cents.ts',
  'apps/server/src/domains/inventory/deny-lists.ts',
  'apps/server/src/domains/inventory/domains.ts',
  'apps/server/src/domains/inventory/ranges.ts',
  'apps/server/src/domains/orders/states.ts',
  'apps/server/src/domains/orders/task-states.ts',
  'apps/server/src/domains/payments/paid-order.ts',
  'apps/server/src/domains/reconciliation/refund-differences.ts',
  'apps/server/src/domains/payments/states.ts',
  'apps/server/src/domains/rewards/whole-points.ts',
  'apps/server/src/domains/status/states.ts',
  'packages/contract/src/money.ts',
  'packages/contract/src/prefixes.ts'
]

export default {
  mutate: mutated,
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/testing/mutation-tests.ts' },
  concurrency: 2,
  // Generous for busy machines. Endless loops are mostly detected by their iterations.
  timeoutMS: 10_000,
  // The files that its copy of the repository needs. It cannot read a tsconfig.json of TypeScript 7, and needs none.
  ignorePatterns: ['**', '!package.json', '!{apps/agent,apps/server,packages,scripts}/**/*.ts', '!docs/ORDERS.md'],
  tempDirName: join(tmpdir(), 'netlet-mutation'),
  cleanTempDir: 'always',
  // With this file, the next run covers only changed files and tests; without it, everything.
  incremental: true,
  incrementalFile: 'node_modules/.cache/mutation.json',
  reporters: ['clear-text'],
  clearTextReporter: { allowEmojis: false, logTests: false, reportTests: false, skipFull: true },
  warnings: { slow: false },
  thresholds: { break: 85 }
}
