/** How many checks of a stage passed and failed. */
export type Count = {
  passed: number
  failed: number
}

/** The parts of Vitest's JSON report that are read here. */
export type VitestReport = {
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

/** The parts of Playwright's JSON report that are read here. */
export type PlaywrightReport = {
  stats: { expected: number; unexpected: number; flaky: number }
  errors: unknown[]
}

/**
 * Counts a Vitest run. A file that could not be loaded, or whose set-up failed, counts as one failure: its tests
 * appear nowhere else.
 */
export function countVitest(report: VitestReport | undefined, exitCode: number | null): Count {
  if (!report) return { passed: 0, failed: 1 }
  const broken = report.testResults.filter(
    file => file.status === 'failed' && !file.assertionResults.some(test => test.status === 'failed')
  ).length
  return settle({ passed: report.numPassedTests, failed: report.numFailedTests + broken }, exitCode)
}

/** Counts a Playwright run. A test that passed only when repeated has failed once, and that is what counts. */
export function countPlaywright(report: PlaywrightReport | undefined, exitCode: number | null): Count {
  if (!report) return { passed: 0, failed: 1 }
  const { expected, unexpected, flaky } = report.stats
  return settle({ passed: expected, failed: unexpected + flaky + report.errors.length }, exitCode)
}

/** A run that tested nothing, or ended badly without naming a test (an unhandled error, a crash), has failed. */
function settle(count: Count, exitCode: number | null): Count {
  const silent = count.failed === 0 && (exitCode !== 0 || count.passed === 0)
  return silent ? { ...count, failed: 1 } : count
}
