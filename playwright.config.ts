import { defineConfig } from '@playwright/test'
import { findBrowser } from './e2e/browser.ts'

/** The longest, which would otherwise begin last and run alone: each in a shop of its own. */
const LONG = ['**/{operators-day,demo}.spec.ts']

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results/e2e',
  projects: [
    { name: 'long', testMatch: LONG },
    { name: 'others', testIgnore: LONG }
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
