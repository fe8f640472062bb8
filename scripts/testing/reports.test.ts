import { expect, test } from 'vitest'
import { countPlaywright, countVitest } from './reports.ts'

const file = (status: string, ...tests: string[]) => ({
  name: 'a.test.ts',
  status,
  assertionResults: tests.map((status, n) => ({ status, fullName: `test ${n}` }))
})

test('tests are counted as the runner reports them', () => {
  const report = { numPassedTests: 3, numFailedTests: 1, testResults: [file('failed', 'passed', 'failed')] }
  expect(countVitest(report, 1)).toEqual({ passed: 3, failed: 1, failures: ['a.test.ts > test 1'] })
  const spec = (title: string, ok: boolean, status: string) => ({ title, ok, tests: [{ status }] })
  const suites = [
    {
      file: 'a.spec.ts',
      specs: [spec('opens', true, 'expected'), spec('closes', false, 'unexpected')],
      suites: [{ file: 'a.spec.ts', specs: [spec('opens again', true, 'flaky')] }]
    }
  ]
  expect(countPlaywright({ stats: { expected: 4, unexpected: 1, flaky: 1 }, errors: [], suites }, 1)).toEqual({
    passed: 4,
    failed: 2,
    failures: ['a.spec.ts > closes', 'a.spec.ts > opens again']
  })
})

test('what failed is named with its error in one line', () => {
  const message = '\u001B[31mError\u001B[39m: expected\n\n  1 to be 2'
  const tested = { status: 'failed', fullName: 'counts', failureMessages: [message, 'more'] }
  const testResults = [{ name: 'a.test.ts', status: 'failed', assertionResults: [tested] }]
  const said = 'Error: expected 1 to be 2'
  expect(countVitest({ numPassedTests: 0, numFailedTests: 1, testResults }, 1).failures).toEqual([
    `a.test.ts > counts: ${said}`
  ])
  const specs = [{ title: 'opens', ok: false, tests: [{ status: 'unexpected', results: [{ errors: [{ message }] }] }] }]
  const report = { stats: { expected: 0, unexpected: 1, flaky: 0 }, errors: [], suites: [{ file: 'a.spec.ts', specs }] }
  expect(countPlaywright(report, 1).failures).toEqual([`a.spec.ts > opens: ${said}`])
  const long = { ...tested, failureMessages: ['x'.repeat(5000)] }
  const [short] = countVitest(
    { numPassedTests: 0, numFailedTests: 1, testResults: [{ name: 'a', status: 'failed', assertionResults: [long] }] },
    1
  ).failures
  expect(short).toHaveLength('a > counts: '.length + 300)
})

test('a file that does not load, or whose set-up fails, is a failure', () => {
  const report = { numPassedTests: 5, numFailedTests: 0, testResults: [file('failed'), file('failed', 'skipped')] }
  expect(countVitest(report, 1)).toEqual({ passed: 5, failed: 2, failures: ['a.test.ts', 'a.test.ts'] })
  const errors = [{ message: 'no port' }]
  expect(countPlaywright({ stats: { expected: 1, unexpected: 0, flaky: 0 }, errors }, 1)).toEqual({
    passed: 1,
    failed: 1,
    failures: ['an error outside the tests: no port']
  })
})

test('an error that no test caught is a failure, and is named', () => {
  const report = { numPassedTests: 5, numFailedTests: 0, testResults: [file('passed', 'passed')] }
  expect(countVitest(report, 1, ['Error: late\n    at once (a.ts:1:1)'])).toEqual({
    passed: 5,
    failed: 1,
    failures: ['an error that no test caught: Error: late at once (a.ts:1:1)']
  })
})

test('a run that ends badly without a failed test is a failure', () => {
  const report = { numPassedTests: 5, numFailedTests: 0, testResults: [file('passed', 'passed')] }
  const failures = ['ended with 1, though no test failed']
  expect(countVitest(report, 1)).toEqual({ passed: 5, failed: 1, failures })
  expect(countVitest(report, null)).toMatchObject({ passed: 5, failed: 1 })
  expect(countVitest(report, 0)).toMatchObject({ passed: 5, failed: 0 })
})

test('a run without a report, or without a test, is a failure', () => {
  expect(countVitest(undefined, 0)).toMatchObject({ passed: 0, failed: 1 })
  expect(countPlaywright(undefined, 0)).toMatchObject({ passed: 0, failed: 1 })
  expect(countVitest({ numPassedTests: 0, numFailedTests: 0, testResults: [] }, 0).failed).toBe(1)
  expect(countPlaywright({ stats: { expected: 0, unexpected: 0, flaky: 0 }, errors: [] }, 0).failed).toBe(1)
})

test('a test that passes only when repeated counts as failed', () => {
  expect(countPlaywright({ stats: { expected: 1, unexpected: 0, flaky: 1 }, errors: [] }, 0).failed).toBe(1)
})
