import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { needsDatabase } from './needs-database.ts'
import { type Count, countPlaywright, countVitest, type PlaywrightReport, type VitestReport } from './reports.ts'
import type { Selection } from './selection.ts'
import { UNHANDLED_ERRORS_FILE } from './unhandled-errors.ts'

/** Runs a program of the packages on this Node; gives its exit code, or null when it was ended. */
export type Run = (args: string[], env?: Record<string, string>) => Promise<number | null>

export type Stage = {
  name: string
  /** Longest time that it may take, in minutes. */
  minutes: number
  /** Left out of a run that names no stages. */
  onlyWhenNamed?: boolean
  /** @param folder for its reports; removed after the run */
  check(run: Run, folder: string): Promise<Count>
}

/** One check that passes when every program in it does; the later ones run all the same. */
const single =
  (...programs: string[][]): Stage['check'] =>
  async run => {
    const failures: string[] = []
    for (const program of programs) {
      const code = await run(program)
      if (code !== 0) failures.push(`${program.join(' ')}: ended with ${code ?? 'a signal'}`)
    }
    const failed = failures.length > 0 ? 1 : 0
    return { passed: 1 - failed, failed, failures }
  }

const vitest =
  (extra: string[] = [], env: Record<string, string> = {}): Stage['check'] =>
  async (run, folder) => {
    const report = join(folder, 'vitest.json')
    const unhandled = join(folder, 'unhandled-errors.json')
    const own = `--reporter=${join(import.meta.dirname, 'unhandled-errors.ts')}`
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, own]
    const args = ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...extra]
    const code = await run(args, { ...env, [UNHANDLED_ERRORS_FILE]: unhandled })
    const errors = (readReport(unhandled) ?? []) as string[]
    return countVitest(readReport(report) as VitestReport | undefined, code, errors)
  }

const playwright =
  (extra: string[] = []): Stage['check'] =>
  async (run, folder) => {
    // Once: the shops of two workers would build it at the same time, into the same folder.
    const built = await single(['scripts/build-web.ts'])(run, folder)
    if (built.failed > 0) return built
    const report = join(folder, 'playwright.json')
    const code = await run(['node_modules/@playwright/test/cli.js', 'test', ...extra], { NETLET_E2E_REPORT: report })
    return countPlaywright(readReport(report) as PlaywrightReport | undefined, code)
  }

/** Everything that `npm test` looks at, in the order in which a mistake is cheapest to learn of. */
export const stages: Stage[] = [
  {
    name: 'types',
    minutes: 5,
    check: single(
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
      ['node_modules/typescript/bin/tsc', '-p', 'apps/web']
    )
  },
  {
    name: 'lint',
    minutes: 5,
    check: single(['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'])
  },
  { name: 'format', minutes: 2, check: single(['node_modules/oxfmt/bin/oxfmt', '--check']) },
  { name: 'unit', minutes: 45, check: vitest() },
  // For a second run on another server, named by DATABASE_URL; the requests that no honest caller sends have all been
  // sent in the first one.
  {
    name: 'database',
    minutes: 20,
    onlyWhenNamed: true,
    check: vitest(['--project=database'], { ONLY_WHAT_A_DATABASE_CHANGES: '1', FUZZ_CALLS: '2000' })
  },
  // Who may import what and write which table: see scripts/rules.
  { name: 'rules', minutes: 2, check: single(['scripts/rules/main.ts']) },
  // Files, exports and packages that nothing uses.
  {
    name: 'unused',
    minutes: 2,
    check: single(['node_modules/knip/bin/knip.js', '--no-progress'])
  },
  { name: 'build', minutes: 3, check: single(['scripts/build-web.ts']) },
  { name: 'browser', minutes: 40, check: playwright() }
]

/**
 * The stages that run single files, and of these only the tests whose name contains `name`. What needs no database
 * starts none.
 */
export function stagesOf({ files, name }: Pick<Selection, 'files' | 'name'>, root: string): Stage[] {
  const specs = files.filter(file => file.endsWith('.spec.ts'))
  const units = files.filter(file => !specs.includes(file)).map(file => join(root, file))
  const pattern = name?.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
  const found: Stage[] = []
  if (units.length > 0) {
    const env: Record<string, string> = needsDatabase(units) ? {} : { NETLET_TEST_DATABASE: 'none' }
    const check = vitest([...units, ...(pattern ? ['--testNamePattern', `(?i:${pattern})`] : [])], env)
    found.push({ name: 'tests', minutes: 12, check })
  }
  if (specs.length > 0)
    found.push({ name: 'browser', minutes: 12, check: playwright([...specs, ...(pattern ? ['--grep', pattern] : [])]) })
  return found
}

function readReport(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
