// Options of Stryker, which changes pure rules one by one and lists each change that no test notices.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Each has its tests beside it, and they need no database. */
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
  'apps/server/src/domains/inventory/domains.ts',
  'apps/server/src/domains/inventory/ownership.ts',
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
  // A busy machine takes its time; a loop without end is mostly known by its turns.
  timeoutMS: 10_000,
  // What its copy of the repository needs. It cannot read a tsconfig.json with TypeScript 7, and needs none.
  ignorePatterns: ['**', '!package.json', '!{apps/agent,apps/server,packages,scripts}/**/*.ts', '!docs/ORDERS.md'],
  tempDirName: join(tmpdir(), 'netlet-mutation'),
  cleanTempDir: 'always',
  // The next run goes over what changed in these files and their tests; without this file, over all of it.
  incremental: true,
  incrementalFile: 'node_modules/.cache/mutation.json',
  reporters: ['clear-text'],
  clearTextReporter: { allowEmojis: false, logTests: false, reportTests: false, skipFull: true },
  warnings: { slow: false },
  thresholds: { break: 85 }
}
