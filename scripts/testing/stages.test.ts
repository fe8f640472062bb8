import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stages, stagesOf } from './stages.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'netlet-stages-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ways = {
  'all of them': () => stages.find(({ name }) => name === 'browser'),
  'some of them': () => stagesOf({ files: ['e2e/demo.spec.ts'] }, '/house')[0]
}

/** A runner that only writes the next report for the browser tests' stage. */
function runsOf(...reports: object[]) {
  const ran: string[][] = []
  const run = async (args: string[], env: Record<string, string> = {}) => {
    ran.push(args)
    if (env['NETLET_E2E_REPORT']) writeFileSync(env['NETLET_E2E_REPORT'], JSON.stringify(reports.shift()))
    return { code: 0, tail: '' }
  }
  return { ran, run, programs: () => ran.map(([program]) => program) }
}

const passing = (file: string) => ({
  stats: { expected: 1, unexpected: 0, flaky: 0 },
  errors: [],
  suites: [{ file, specs: [{ title: 'buys', ok: true, tests: [{ status: 'expected' }] }] }]
})
const failing = (file: string) => ({
  stats: { expected: 0, unexpected: 1, flaky: 0 },
  errors: [],
  suites: [{ file, specs: [{ title: 'buys', ok: false, tests: [{ status: 'unexpected' }] }] }]
})

test.each(Object.entries(ways))('the web app is built once before browser tests: %s', async (_, find) => {
  const { run, programs } = runsOf(passing('a.spec.ts'))
  expect(await find()?.check(run, folder)).toMatchObject({ passed: 1, failed: 0 })
  expect(programs()).toEqual(['scripts/build-web.ts', 'node_modules/@playwright/test/cli.js'])
})

test('no browser is started where the web app cannot be built', async () => {
  const ran: string[] = []
  const run = async ([program = '']: string[]) => ({ code: ran.push(program), tail: '' })
  expect(await ways['some of them']()?.check(run, folder)).toMatchObject({ passed: 0, failed: 1 })
  expect(ran).toEqual(['scripts/build-web.ts'])
})

test('lint fails for what only the compiler finds', async () => {
  const root = join(import.meta.dirname, '../..')
  const PATH = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
  const check = (text: string) => {
    writeFileSync(join(folder, 'a.ts'), text)
    const run = async ([program = '', ...args]: string[], env: Record<string, string> = {}) => {
      const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env, PATH } } as const
      const { status, stdout } = spawnSync(process.execPath, [join(root, program), ...args], options)
      return { code: status, tail: stdout }
    }
    return stages.find(({ name }) => name === 'lint')?.check(run, folder)
  }
  writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true }, "include": ["a.ts"] }')
  expect(await check('export const one: number = 1\n')).toMatchObject({ passed: 1 })
  expect(await check("export const one: number = 'one'\n")).toMatchObject({ failed: 1 })
})

test('a file that failed runs once more, alone: one that passes then is flaky and counts as passed', async () => {
  const { run, ran } = runsOf(failing('a.spec.ts'), passing('a.spec.ts'))
  expect(await ways['some of them']()?.check(run, folder)).toMatchObject({
    passed: 1,
    failed: 0,
    flaky: [{ file: 'a.spec.ts', test: 'buys' }]
  })
  expect(ran.at(-1)?.slice(1)).toEqual(['test', 'a.spec.ts', '--workers=1'])
  const twice = runsOf(failing('a.spec.ts'), failing('a.spec.ts'))
  expect(await ways['some of them']()?.check(twice.run, folder)).toMatchObject({ passed: 0, failed: 1, flaky: [] })
})
