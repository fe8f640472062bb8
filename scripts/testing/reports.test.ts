import { expect, test } from 'vitest'
import { countPlaywright, countVitest, lineOf, settleRetry, type VitestReport } from './reports.ts'

const ended = (code: number | null, tail = '') => ({ code, tail })
const vitestFile = (status: string, ...tests: string[]) => ({
  name: 'a.test.ts',
  status,
  assertionResults: tests.map((status, n) => ({ status, fullName: `test ${n}` }))
})
const vitestReport = (passed: number, failed: number, ...testResults: VitestReport['testResults']): VitestReport => ({
  numPassedTests: passed,
  numFailedTests: failed,
  testResults
})

test('tests are counted as the runner reports them, with the time of each file', () => {
  const tested = { ...vitestFile('failed', 'passed', 'failed'), startTime: 1000, endTime: 3500 }
  expect(countVitest(vitestReport(3, 1, tested), ended(1))).toEqual({
    passed: 3,
    failed: 1,
    failures: [{ file: 'a.test.ts', test: 'test 1' }],
    seconds: { 'a.test.ts': 2.5 }
  })
  const spec = (title: string, ok: boolean, status: string) => ({
    title,
    ok,
    tests: [{ status, results: [{ duration: 500 }] }]
  })
  const suites = [
    {
      file: 'a.spec.ts',
      specs: [spec('opens', true, 'expected'), spec('closes', false, 'unexpected')],
      suites: [{ file: 'a.spec.ts', specs: [spec('opens again', true, 'flaky')] }]
    }
  ]
  expect(countPlaywright({ stats: { expected: 4, unexpected: 1, flaky: 1 }, errors: [], suites }, ended(1))).toEqual({
    passed: 4,
    failed: 2,
    failures: [
      { file: 'a.spec.ts', test: 'closes' },
      { file: 'a.spec.ts', test: 'opens again' }
    ],
    seconds: { 'a.spec.ts': 1.5 }
  })
})

test('a failure is one line with its error', () => {
  const message = '\u001B[31mError\u001B[39m: expected\n\n  1 to be 2'
  const tested = (text: string) => ({
    name: 'a.test.ts',
    status: 'failed',
    assertionResults: [{ status: 'failed', fullName: 'counts', failureMessages: [text, 'more'] }]
  })
  const linesOf = (text: string) => countVitest(vitestReport(0, 1, tested(text)), ended(1)).failures.map(lineOf)
  expect(linesOf(message)).toEqual(['a.test.ts › counts: Error: expected 1 to be 2'])
  expect(linesOf('x'.repeat(5000))[0]).toHaveLength('a.test.ts › counts: '.length + 300)
})

test.each([
  ['a file that does not load', countVitest(vitestReport(5, 0, vitestFile('failed')), ended(1)), 'a.test.ts'],
  [
    'a file whose set-up fails',
    countVitest(vitestReport(5, 0, vitestFile('failed', 'skipped')), ended(1)),
    'a.test.ts'
  ],
  [
    'an error that no test caught',
    countVitest(vitestReport(5, 0, vitestFile('passed', 'passed')), ended(1), ['Error: late\n    at once (a.ts:1:1)']),
    'an error that no test caught: Error: late at once (a.ts:1:1)'
  ],
  [
    'a bad end without a failed test',
    countVitest(vitestReport(5, 0, vitestFile('passed', 'passed')), ended(1, 'connect ECONNREFUSED\n')),
    'ended with 1, though no test failed: connect ECONNREFUSED'
  ],
  ['an end by a signal', countVitest(vitestReport(5, 0), ended(null)), 'ended with a signal, though no test failed'],
  [
    'an error outside the tests of a browser',
    countPlaywright({ stats: { expected: 1, unexpected: 0, flaky: 0 }, errors: [{ message: 'no port' }] }, ended(1)),
    'an error outside the tests: no port'
  ],
  ['no report', countVitest(undefined, ended(1, 'no space left')), 'the run ended without a report: no space left'],
  ['no report of a browser', countPlaywright(undefined, ended(0)), 'the run ended without a report'],
  ['no test', countVitest(vitestReport(0, 0), ended(0)), 'no test ran']
])('%s is a failure that says why', (_, { failed, failures }, line) => {
  expect(failed).toBe(1)
  expect(failures.map(lineOf)).toEqual([line])
})

test('only what fails again in a second run of its file has failed', () => {
  const first = {
    passed: 3,
    failed: 3,
    failures: [{ file: 'a.test.ts', test: 'one' }, { file: 'b.test.ts', test: 'two' }, { test: 'an error' }]
  }
  const second = { passed: 4, failed: 1, failures: [{ file: 'b.test.ts', test: 'two' }], seconds: { 'a.test.ts': 1 } }
  expect(settleRetry(first, second)).toEqual({
    passed: 4,
    failed: 2,
    failures: first.failures.slice(1),
    flaky: first.failures.slice(0, 1)
  })
  // A second run that did not include the file changes nothing.
  expect(settleRetry(first, { passed: 0, failed: 0, failures: [] })).toMatchObject({ passed: 3, failed: 3, flaky: [] })
})
