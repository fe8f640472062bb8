import { defineConfig } from '@playwright/test'
import { findBrowser } from './e2e/browser.ts'

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results/e2e',
  // One at a time: each spec runs a whole shop of its own, and the browser wants the rest of the machine.
  workers: 1,
  timeout: 60_000,
  forbidOnly: Boolean(process.env['CI']),
  reporter: [['list'], ['json', { outputFile: process.env['NETLET_E2E_REPORT'] ?? 'test-results/e2e.json' }]],
  use: {
    browserName: 'chromium',
    launchOptions: await findBrowser(),
    screenshot: 'only-on-failure'
  }
})
