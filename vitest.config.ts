import { defineConfig } from 'vitest/config'

const shared = {
  pool: 'forks' as const,
  testTimeout: 30_000,
  hookTimeout: 60_000,
  exclude: ['**/node_modules/**', '**/dist/**']
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    // Two, since only what runs the first needs PostgreSQL: its server starts when one of these files is run.
    projects: [
      {
        test: {
          ...shared,
          name: 'database',
          include: ['apps/server/**/*.test.ts', 'apps/sandbox/**/*.test.ts', 'bench/**/*.test.ts'],
          globalSetup: ['apps/server/src/testing/global-setup.ts']
        }
      },
      {
        test: {
          ...shared,
          name: 'plain',
          include: [
            'packages/**/*.test.ts',
            'apps/agent/**/*.test.ts',
            'apps/web/**/*.test.{ts,tsx}',
            'scripts/**/*.test.ts',
            'e2e/**/*.test.ts'
          ]
        }
      }
    ]
  }
})
