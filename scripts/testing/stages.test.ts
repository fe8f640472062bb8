import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

test.each(Object.entries(ways))(
  'tests in a browser find the web app built, once for all shops: %s',
  async (_, find) => {
    const ran: string[] = []
    const report = JSON.stringify({ stats: { expected: 1, unexpected: 0, flaky: 0 }, errors: [] })
    const run = async ([program = '']: string[], env: Record<string, string> = {}) => {
      ran.push(program)
      if (env['NETLET_E2E_REPORT']) writeFileSync(env['NETLET_E2E_REPORT'], report)
      return 0
    }
    expect(await find()?.check(run, folder)).toMatchObject({ passed: 1, failed: 0 })
    expect(ran).toEqual(['scripts/build-web.ts', 'node_modules/@playwright/test/cli.js'])
  }
)

test('no browser is started where the web app cannot be built', async () => {
  const ran: string[] = []
  const run = async ([program = '']: string[]) => ran.push(program)
  expect(await ways['some of them']()?.check(run, folder)).toMatchObject({ passed: 0, failed: 1 })
  expect(ran).toEqual(['scripts/build-web.ts'])
})
