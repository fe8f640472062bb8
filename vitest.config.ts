import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'
import { contractRoutes } from './apps/web/vite/contract-routes.ts'
import { cacheKeys, iconFiles } from './apps/web/vite/fast-tests.ts'
import { isLong } from './scripts/testing/tier.ts'

const shared = {
  pool: 'forks' as const,
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // A busy machine takes its time; what is there ends the waiting at once.
  expect: { poll: { timeout: 30_000 } },
  exclude: ['**/node_modules/**', '**/dist/**', ...(isLong ? [] : ['**/*.long.test.ts'])]
}

/** SQL of ours: what a second run, on another PostgreSQL, could find to be different. The long tier repeats all of them. */
const ownSql = [
  'apps/server/src/domains/{bulk,home,inventory,retention}/**/*.test.ts',
  'apps/server/src/domains/traffic/*.test.ts',
  'apps/server/src/domains/orders/{list,address-holders,unpaid-limit,address-search}.test.ts',
  'apps/server/src/domains/payments/{books,histories,list-payments,storm}.test.ts',
  'apps/server/src/domains/payments/order-model/*.test.ts',
  'apps/server/src/infra/{db,list}/*.test.ts',
  'apps/server/src/infra/{change-feed,command,job}*.test.ts',
  'apps/server/src/testing/*.test.ts',
  'apps/server/src/**/*{deadlocks,figures,indexes,locks,migration,plans}.test.ts',
  'apps/server/src/retention.test.ts'
]

/** The agent's tests that the contract of sockets (sockets.test.ts) stands for. */
const theSameOnAnySockets = [
  'apps/agent/test/{changed-rules,client-access,denied-sites,faults,hostile,judged-turns,live,long-heads}.test.ts',
  'apps/agent/test/{lowered-plan,management,policy,repaired-heads,second-hellos,source-ports}.test.ts',
  'apps/agent/test/{strangers,tls-proxy,tls-strangers,udp,user-limits}.test.ts'
]

const agent = {
  // Each file ends what it has begun; loading the agent again for each of them took a third of their time.
  isolate: false,
  setupFiles: [`${import.meta.dirname}/apps/agent/test/setup.ts`]
}

export default defineConfig({
  test: {
    // One more than the cores that are counted on: many tests wait, for a timeout or for another process.
    maxWorkers: 3,
    // Files of a project share a process, and must not care which ran before. The order's seed is printed.
    sequence: { shuffle: { files: isLong || process.env['NETLET_TEST_ORDER'] === 'random' } },
    // 'database' needs PostgreSQL: its server starts when one of these files is run. 'web' has a DOM.
    projects: [
      {
        test: {
          ...shared,
          name: 'database',
          // Loading the server for each file anew took a quarter of the time. What a file keeps, it keeps in its own scope.
          isolate: false,
          include:
            process.env['ONLY_OWN_SQL'] && !isLong
              ? ownSql
              : ['apps/server/**/*.test.ts', 'apps/sandbox/**/*.test.ts', 'bench/**/*.test.ts'],
          globalSetup: ['apps/server/src/testing/global-setup.ts'],
          setupFiles: [`${import.meta.dirname}/apps/server/src/testing/setup.ts`]
        }
      },
      {
        test: {
          ...shared,
          name: 'plain',
          // The change feed's client is tested on the event source that Node keeps behind this switch.
          execArgv: ['--experimental-eventsource'],
          include: ['packages/**/*.test.ts', 'apps/web/**/*.node.test.ts', 'scripts/**/*.test.ts', 'e2e/**/*.test.ts']
        }
      },
      {
        test: {
          ...shared,
          ...agent,
          name: 'agent',
          include: ['apps/agent/**/*.test.ts']
        }
      },
      {
        test: {
          ...shared,
          ...agent,
          // What passes through the agent, once more over the public sockets instead of the bare handles.
          name: 'streams',
          env: { AGENT_SOCKETS: 'streams' },
          include: [
            'apps/agent/test/{broken-streams,egress,memory-bounds,pipelining,takeover}.test.ts',
            ...(isLong ? theSameOnAnySockets : [])
          ]
        }
      },
      {
        root: 'apps/web',
        plugins: [react(), contractRoutes(), iconFiles(), cacheKeys()],
        test: {
          ...shared,
          name: 'web',
          // Loading the app for each file took most of the time. setup.ts cleans up between tests.
          isolate: false,
          fsModuleCache: true,
          include: ['src/**/*.test.{ts,tsx}'],
          exclude: [...shared.exclude, '**/*.node.test.ts'],
          environment: 'happy-dom',
          setupFiles: [`${import.meta.dirname}/apps/web/src/testing/setup.ts`]
        }
      }
    ]
  }
})
