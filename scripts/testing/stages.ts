import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { needsDatabase, type Selection } from './selection.ts'
import {
  type Count,
  countPlaywright,
  countVitest,
  failedFiles,
  type PlaywrightReport,
  settleRetry,
  type VitestReport
} from './reports.ts'
import { UNHANDLED_ERRORS_FILE } from './unhandled-errors.ts'

/** How a program ended: its exit code (null after a signal) and the end of its output. */
export type Ended = { code: number | null; tail: string }

/** Runs a program of the packages on this Node. */
export type Run = (args: string[], env?: Record<string, string>) => Promise<Ended>

export type Stage = {
  name: string
  /** Its timeout: several times what it takes on a busy machine. */
  minutes: number
  /** Lanes run in parallel, the stages of a lane one after another. */
  lane: 'checks' | 'tests'
  /** A run without named stages skips it, or includes it only in the long tier. */
  only?: 'when named' | 'long'
  /** @param folder for its reports; removed after the run */
  check(run: Run, folder: string): Promise<Count>
}

/** More failed files than this mean a broken change, so they are not run again. */
const MOST_RETRIED = 10

const program = (name: string, minutes: number, ...args: string[]): Stage => ({
  name,
  minutes,
  lane: 'checks',
  check: run => checked(run, args)
})

async function checked(run: Run, args: string[], env: Record<string, string> = {}): Promise<Count> {
  const { code } = await run(args, env)
  const failures = code === 0 ? [] : [{ test: `${args.join(' ')}: ended with ${code ?? 'a signal'}` }]
  return { passed: 1 - failures.length, failed: failures.length, failures }
}

/** Runs tests, then failed files once more, alone. */
function withRetry(runTests: (run: Run, folder: string, files?: string[]) => Promise<Count>): Stage['check'] {
  return async (run, folder) => {
    const first = await runTests(run, folder)
    const files = failedFiles(first)
    if (files.length === 0 || files.length > MOST_RETRIED) return first
    console.log(`\nOnce more, alone: ${files.join(', ')}`)
    return settleRetry(first, await runTests(run, folder, files))
  }
}

const vitest = (extra: string[] = [], env: Record<string, string> = {}): Stage['check'] =>
  withRetry(async (run, folder, files) => {
    const report = join(folder, 'vitest.json')
    const unhandled = join(folder, 'unhandled-errors.json')
    const own = `--reporter=${join(import.meta.dirname, 'unhandled-errors.ts')}`
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, own]
    const which = files ? [...files, '--no-file-parallelism'] : extra
    const ended = await run(['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...which], {
      ...env,
      [UNHANDLED_ERRORS_FILE]: unhandled
    })
    const errors = (readReport(unhandled) ?? []) as string[]
    return countVitest(readReport(report) as VitestReport | undefined, ended, errors)
  })

const playwright = (extra: string[] = []): Stage['check'] => {
  const tests = withRetry(async (run, folder, files) => {
    const report = join(folder, 'playwright.json')
    const which = files ? [...files, '--workers=1'] : extra
    const ended = await run(['node_modules/@playwright/test/cli.js', 'test', ...which], { NETLET_E2E_REPORT: report })
    return countPlaywright(readReport(report) as PlaywrightReport | undefined, ended)
  })
  return async (run, folder) => {
    // Build once, because the shops of two workers would build into the same folder at the same time.
    const built = await build.check(run, folder)
    return built.failed > 0 ? built : tests(run, folder)
  }
}

/** Parts of paths. */
const attacks = [
  ...['attack', 'injection', 'fuzz', 'wire', 'roles', 'tokens', 'secrets', 'confirmations', 'documents'].map(
    name => `apps/server/src/api/${name}.test.ts`
  ),
  'apps/server/src/asked-twice.test.ts',
  'apps/server/src/infra/http/',
  'apps/server/src/infra/list/',
  'apps/server/src/infra/log',
  'apps/server/src/integrations/public-http/',
  'apps/server/src/domains/accounts/',
  'apps/server/src/domains/inventory/storm.test.ts',
  'apps/server/src/domains/orders/unpaid-limit.test.ts',
  'apps/server/src/domains/payments/hostile-payments.test.ts',
  'apps/server/src/domains/webhooks/',
  'apps/server/src/pages/pages.test.ts',
  'apps/agent/test/hostile.test.ts',
  'apps/agent/test/memory-bounds.test.ts',
  'scripts/docs/docs.test.ts'
]

const build = program('build', 10, 'scripts/build-web.ts')

/** All stages. In each lane, those that find mistakes most cheaply come first. */
export const stages: Stage[] = [
  {
    name: 'lint',
    minutes: 15,
    lane: 'checks',
    // Reports the compiler's errors, too. More threads would resolve the same types again, while the tests need the core.
    check: run =>
      checked(run, ['node_modules/oxlint/bin/oxlint', '--type-aware', '--type-check', '--deny-warnings'], {
        GOMAXPROCS: '1'
      })
  },
  program('format', 10, 'node_modules/oxfmt/bin/oxfmt', '--check'),
  // Imports and table writes: see scripts/rules.
  program('rules', 10, 'scripts/rules/main.ts'),
  // Unused files, exports and packages.
  program('unused', 10, 'node_modules/knip/bin/knip.js', '--no-progress'),
  // In parallel with the unit tests, so that the browser tests need not wait.
  build,
  { name: 'unit', minutes: 60, lane: 'tests', check: vitest() },
  // For a second run on another server, named by DATABASE_URL.
  {
    name: 'database',
    minutes: 60,
    lane: 'tests',
    only: 'when named',
    check: vitest(['--project=database'], { ONLY_OWN_SQL: '1' })
  },
  // By class: ids and roles, forms, copies at once, injection, addresses, limits, money, machines. 'unit' has them, too.
  { name: 'attack', minutes: 60, lane: 'tests', only: 'when named', check: vitest(attacks) },
  { name: 'browser', minutes: 60, lane: 'tests', check: playwright() },
  // Do the tests of pure rules detect mutations?
  {
    ...program(
      'mutation',
      60,
      'node_modules/@stryker-mutator/core/bin/stryker.js',
      'run',
      'scripts/testing/mutation.ts'
    ),
    lane: 'tests',
    only: 'long'
  },
  // Honest and hostile clients at an agent for an hour.
  { ...program('soak', 90, 'apps/agent/soak/main.ts'), lane: 'tests', only: 'long' }
]

/** Stages for these files, and of these only tests whose name contains `name`. A database only if needed. */
export function stagesOf({ files, name }: Pick<Selection, 'files' | 'name'>, root: string): Stage[] {
  const specs = files.filter(file => file.endsWith('.spec.ts'))
  const units = files.filter(file => !specs.includes(file)).map(file => join(root, file))
  const pattern = name?.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
  const found: Stage[] = []
  if (units.length > 0) {
    const env: Record<string, string> = needsDatabase(units) ? {} : { NETLET_TEST_DATABASE: 'none' }
    const check = vitest([...units, ...(pattern ? ['--testNamePattern', `(?i:${pattern})`] : [])], env)
    found.push({ name: 'tests', minutes: 60, lane: 'tests', check })
  }
  if (specs.length > 0) {
    const check = playwright([...specs, ...(pattern ? ['--grep', pattern] : [])])
    found.push({ name: 'browser', minutes: 60, lane: 'tests', check })
  }
  return found
}

function readReport(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
