import { stripVTControlCharacters } from 'node:util'
import type { Ended } from './stages.ts'

/** A failed test, a failed file, or a failure outside any file. */
export type Failure = { file?: string; test?: string; error?: string }

/** The results of a stage. */
export type Count = {
  passed: number
  failed: number
  failures: Failure[]
  /** Failures that passed when their file ran again alone. They count as passed. */
  flaky?: Failure[]
  /** Seconds per test file. */
  seconds?: Record<string, number>
}

/** The fields of Vitest's JSON report that we read. Times are in milliseconds. */
export type VitestReport = {
  numPassedTests: number
  numFailedTests: number
  testResults: {
    name: string
    status: string
    startTime?: number
    endTime?: number
    assertionResults: VitestTest[]
  }[]
}

type VitestTest = { status: string; fullName: string; failureMessages?: string[] }

/** The fields of Playwright's JSON report that we read. */
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

type PlaywrightTest = { status: string; results?: { duration?: number; errors?: { message?: string }[] }[] }

/**
 * Counts a Vitest run. A file that could not load, or whose set-up failed, counts as one failure, because its tests are
 * not listed. So does each uncaught error.
 */
export function countVitest(report: VitestReport | undefined, ended: Ended, unhandled: string[] = []): Count {
  if (!report) return withoutReport(ended)
  const broken = report.testResults.filter(
    file => file.status === 'failed' && !file.assertionResults.some(test => test.status === 'failed')
  )
  const failures: Failure[] = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({ file: name, test: fullName, ...errorOf(failureMessages?.[0]) }))
  )
  const seconds = report.testResults.map(({ name, startTime = 0, endTime = 0 }): [string, number] => [
    name,
    Math.max(0, endTime - startTime) / 1000
  ])
  return settle(
    {
      passed: report.numPassedTests,
      failed: report.numFailedTests + broken.length + unhandled.length,
      failures: [
        ...failures,
        ...broken.map(({ name }) => ({ file: name })),
        ...unhandled.map(message => ({ test: 'an error that no test caught', ...errorOf(message) }))
      ],
      seconds: Object.fromEntries(seconds)
    },
    ended
  )
}

/** Counts a Playwright run. A test that passed only on a retry counts as failed. */
export function countPlaywright(report: PlaywrightReport | undefined, ended: Ended): Count {
  if (!report) return withoutReport(ended)
  const { expected, unexpected, flaky } = report.stats
  const errors = report.errors.map(({ message }) => ({ test: 'an error outside the tests', ...errorOf(message) }))
  const failures = [...(report.suites ?? []).flatMap(failedSpecs), ...errors]
  const seconds: Record<string, number> = {}
  for (const suite of report.suites ?? []) seconds[suite.file] = (seconds[suite.file] ?? 0) + durationOf(suite)
  return settle({ passed: expected, failed: unexpected + flaky + report.errors.length, failures, seconds }, ended)
}

function failedSpecs(suite: PlaywrightSuite): Failure[] {
  const own = (suite.specs ?? []).filter(({ ok, tests }) => !ok || tests.some(({ status }) => status === 'flaky'))
  const named = own.map(({ title, tests }) => {
    const errors = tests.flatMap(({ results }) => results ?? []).flatMap(result => result.errors ?? [])
    return { file: suite.file, test: title, ...errorOf(errors[0]?.message) }
  })
  return [...named, ...(suite.suites ?? []).flatMap(failedSpecs)]
}

function durationOf(suite: PlaywrightSuite): number {
  const results = (suite.specs ?? []).flatMap(({ tests }) => tests.flatMap(test => test.results ?? []))
  const own = results.reduce((sum, { duration = 0 }) => sum + duration / 1000, 0)
  return (suite.suites ?? []).reduce((sum, inner) => sum + durationOf(inner), own)
}

/** The files with a failure. */
export const failedFiles = ({ failures }: Count): string[] => [
  ...new Set(failures.flatMap(({ file }) => (file === undefined ? [] : [file])))
]

/** Combines a run with the second run of its failed files. Failures that then passed are flaky. */
export function settleRetry(first: Count, second: Count): Count {
  const again = new Set(failedFiles(second))
  const hasPassed = ({ file }: Failure) => file !== undefined && file in (second.seconds ?? {}) && !again.has(file)
  const flaky = first.failures.filter(hasPassed)
  return {
    ...first,
    passed: first.passed + flaky.length,
    failed: first.failed - flaky.length,
    failures: first.failures.filter(failure => !hasPassed(failure)),
    flaky
  }
}

/** A failure in one line: `FILE › TEST: error`. */
export function lineOf({ file, test, error }: Failure): string {
  const name = [file, test].filter(part => part !== undefined).join(' › ')
  return error ? (name ? `${name}: ${error}` : error) : name
}

/** Largest length of an error beside its test's name. */
const LONGEST_ERROR = 300

/** An error in one line. */
function errorOf(message = ''): { error?: string } {
  const line = stripVTControlCharacters(message).replace(/\s+/g, ' ').trim()
  return line ? { error: line.slice(0, LONGEST_ERROR) } : {}
}

/** The end of the output, which explains a run without a failed test, such as a failed set-up. */
const lastWordsOf = ({ tail }: Ended): { error?: string } => errorOf(tail.trim().slice(-LONGEST_ERROR))

const withoutReport = (ended: Ended): Count => ({
  passed: 0,
  failed: 1,
  failures: [{ test: 'the run ended without a report', ...lastWordsOf(ended) }]
})

/** A run without any test, or with a bad exit but no failed test (a crash, a failed set-up), has failed. */
function settle(count: Count, ended: Ended): Count {
  if (count.failed > 0 || (ended.code === 0 && count.passed > 0)) return count
  const why = ended.code === 0 ? 'no test ran' : `ended with ${ended.code ?? 'a signal'}, though no test failed`
  return { ...count, failed: 1, failures: [{ test: why, ...lastWordsOf(ended) }] }
}
