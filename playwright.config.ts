import { defineConfig } from '@playwright/test'
import { findBrowser } from './e2e/browser.ts'
import { isLong } from './scripts/testing/tier.ts'

/** Begins first: it would run alone at the end. Its shop is its own. */
const FIRST = '**/operators-day.spec.ts'
const ofTheLongTier = isLong ? [] : ['**/*.long.spec.ts']

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results/e2e',
  projects: [
    { name: 'first', testMatch: FIRST },
    { name: 'others', testIgnore: [FIRST, ...ofTheLongTier] }
  ],
  // Each worker runs a whole shop of its own, from the first test that asks for it to its last one.
  workers: 2,
  fullyParallel: true,
  // A busy machine takes its time; what is there ends the waiting at once.
  timeout: 180_000,
  expect: { timeout: 30_000, toPass: { timeout: 30_000 } },
  forbidOnly: Boolean(process.env['CI']),
  reporter: [['list'], ['json', { outputFile: process.env['NETLET_E2E_REPORT'] ?? 'test-results/e2e.json' }]],
  use: {
    browserName: 'chromium',
    actionTimeout: 30_000,
    navigationTimeout: 60_000,
    // What fades and slides is waited for at each step.
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: await findBrowser(),
    screenshot: 'only-on-failure'
  }
})
