import { stripVTControlCharacters } from 'node:util'

/** How many checks of a stage passed and failed, and what failed: `file > test: error`. */
export type Count = {
  passed: number
  failed: number
  failures: string[]
}

/** The parts of Vitest's JSON report that are read here. */
export type VitestReport = {
  numPassedTests: number
  numFailedTests: number
  testResults: { name: string; status: string; assertionResults: VitestTest[] }[]
}

type VitestTest = { status: string; fullName: string; failureMessages?: string[] }

/** The parts of Playwright's JSON report that are read here. */
export type PlaywrightReport = {
  stats: { expected: number; unexpected: number; flaky: number }
  errors: { message?: string }[]
  suites?: PlaywrightSuite[]
}

type PlaywrightSuite = {
  file: string
  specs?: { title: string; ok: boolean; tests: PlaywrightTest[] }[]
  suites?: PlaywrightSuite[]
}

type PlaywrightTest = { status: string; results?: { errors?: { message?: string }[] }[] }

/**
 * Counts a Vitest run. A file that could not be loaded, or whose set-up failed, counts as one failure: its tests
 * appear nowhere else. So does each error that no test caught.
 */
export function countVitest(
  report: VitestReport | undefined,
  exitCode: number | null,
  unhandled: string[] = []
): Count {
  if (!report) return { passed: 0, failed: 1, failures: [NO_REPORT] }
  const broken = report.testResults.filter(
    file => file.status === 'failed' && !file.assertionResults.some(test => test.status === 'failed')
  )
  const failures = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${name} > ${fullName}${reasonOf(failureMessages?.[0])}`)
  )
  return settle(
    {
      passed: report.numPassedTests,
      failed: report.numFailedTests + broken.length + unhandled.length,
      failures: [
        ...failures,
        ...broken.map(({ name }) => name),
        ...unhandled.map(message => `an error that no test caught${reasonOf(message)}`)
      ]
    },
    exitCode
  )
}

/** Counts a Playwright run. A test that passed only when repeated has failed once, and that is what counts. */
export function countPlaywright(report: PlaywrightReport | undefined, exitCode: number | null): Count {
  if (!report) return { passed: 0, failed: 1, failures: [NO_REPORT] }
  const { expected, unexpected, flaky } = report.stats
  const errors = report.errors.map(({ message }) => `an error outside the tests${reasonOf(message)}`)
  const failures = [...(report.suites ?? []).flatMap(failedSpecs), ...errors]
  return settle({ passed: expected, failed: unexpected + flaky + report.errors.length, failures }, exitCode)
}

function failedSpecs(suite: PlaywrightSuite): string[] {
  const own = (suite.specs ?? []).filter(({ ok, tests }) => !ok || tests.some(({ status }) => status === 'flaky'))
  const named = own.map(({ title, tests }) => {
    const errors = tests.flatMap(({ results }) => results ?? []).flatMap(result => result.errors ?? [])
    return `${suite.file} > ${title}${reasonOf(errors[0]?.message)}`
  })
  return [...named, ...(suite.suites ?? []).flatMap(failedSpecs)]
}

const NO_REPORT = 'the run ended without a report'

/** Characters of an error that stand beside the name of its test. */
const LONGEST_REASON = 300

/** An error in one line, to stand after a name. */
function reasonOf(message = ''): string {
  const line = stripVTControlCharacters(message).replace(/\s+/g, ' ').trim()
  return line && `: ${line.slice(0, LONGEST_REASON)}`
}

/** A run that tested nothing, or ended badly without naming a test (an unhandled error, a crash), has failed. */
function settle(count: Count, exitCode: number | null): Count {
  const silent = count.failed === 0 && (exitCode !== 0 || count.passed === 0)
  if (!silent) return count
  const why = exitCode === 0 ? 'no test ran' : `ended with ${exitCode ?? 'a signal'}, though no test failed`
  return { ...count, failed: 1, failures: [why] }
}
