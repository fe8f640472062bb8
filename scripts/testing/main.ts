// Runs all stages, or those that the arguments name (selection.ts). Ends with the line 'N passed, N failed'.
import { type ChildProcess, spawn } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endLeftovers, makeRunFolder } from './run-folder.ts'
import { type Count, type Failure, lineOf } from './reports.ts'
import { select } from './selection.ts'
import { type Run, type Stage, stages, stagesOf } from './stages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const graceSeconds = 15
/** Characters of a stage's output kept for its failure message. */
const TAIL = 4000
const SLOWEST = 20
/** Largest running time of a program in the long tier. */
const LONG_MINUTES = 360

const isTest = (path: string): boolean => /\.test\.tsx?$|^e2e\/.*\.spec\.ts$/.test(path)
const testFiles = ['apps', 'packages', 'scripts', 'bench', 'e2e']
  .flatMap(folder => globSync(`${folder}/**/*.{test,spec}.{ts,tsx}`, { cwd: root }))
  .map(path => path.replaceAll(sep, '/'))
  .filter(path => isTest(path) && !/(^|\/)(node_modules|dist)\//.test(path))
  .toSorted()

const LONG = '--long'
const words = process.argv.slice(2).filter(word => word !== LONG)
const selection = select(
  words,
  stages.map(stage => stage.name),
  { paths: testFiles, read: path => readFileSync(join(root, path), 'utf8') },
  root
)
if (typeof selection === 'string') {
  console.error(selection)
  process.exit(2)
}
/** Naming a test of the long tier selects that tier. */
const isLong = process.argv.includes(LONG) || selection.files.some(file => /\.long\.(test|spec)\.ts$/.test(file))
const all = selection.stages.length + selection.files.length === 0
const chosen = [
  ...stages.filter(({ name, only }) => (all ? !only || (isLong && only === 'long') : selection.stages.includes(name))),
  ...stagesOf(selection, root)
]

// The temporary folder of all tests, removed after the run.
const folder = makeRunFolder()

type Running = { child: ChildProcess; folder: string; patience?: NodeJS.Timeout }
const running = new Set<Running>()
let interrupted = false
process.on('exit', () => {
  endLeftovers(folder)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true
    for (const one of running) end(one)
  })
}

/** Asks a stage's processes to end, and kills them after a while. */
function end(one: Running): void {
  signalGroup(one.child, 'SIGINT')
  one.patience ??= setTimeout(() => {
    signalGroup(one.child, 'SIGKILL')
    endLeftovers(one.folder)
  }, graceSeconds * 1000)
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal)
  } catch {
    // All have ended.
  }
}

/** @param print receives the output of the stage's programs */
function runner(stage: Stage, own: string, print: (text: string) => void): Run {
  return (args, env = {}) =>
    new Promise(done => {
      let tail = ''
      if (interrupted) return done({ code: null, tail })
      const path = [dirname(process.execPath), join(root, 'node_modules', '.bin'), process.env['PATH'] ?? '']
      const child = spawn(process.execPath, args, {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        // Its own process group, to end it as a whole.
        detached: process.platform !== 'win32',
        env: {
          ...process.env,
          ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
          PATH: path.join(delimiter),
          NETLET_TEST_DIR: own,
          NETLET_BROWSER_DIR: process.env['NETLET_BROWSER_DIR'] ?? tmpdir(),
          TMPDIR: own,
          ...(isLong ? { NETLET_TEST_TIER: 'long' } : {}),
          ...env
        }
      })
      const one: Running = { child, folder: own }
      running.add(one)
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          tail = (tail + text).slice(-TAIL)
          print(text)
        })
      }
      const minutes = isLong ? LONG_MINUTES : stage.minutes
      const limit = setTimeout(() => {
        print(`${stage.name} took more than ${minutes} minutes and is ended\n`)
        end(one)
      }, minutes * 60_000)
      child.once('error', error => print(`${error.message}\n`))
      child.once('exit', () => {
        clearTimeout(limit)
        clearTimeout(one.patience)
        running.delete(one)
        // Remaining processes would keep its output open.
        signalGroup(child, 'SIGKILL')
        for (const left of endLeftovers(own)) print(`left running by ${stage.name}, ended: ${left}\n`)
      })
      child.once('close', code => done({ code, tail }))
    })
}

const total = { passed: 0, failed: 0 }
const summary: string[] = []
const failures: string[] = []
const flaky: string[] = []
const slowest: { file: string; seconds: number }[] = []
const named = (stage: Stage, failure: Failure) => `${stage.name}: ${lineOf(failure).replaceAll(root, '')}`

function record(stage: Stage, count: Count, seconds: number): void {
  total.passed += count.passed
  total.failed += count.failed
  failures.push(...count.failures.map(failure => `failed: ${named(stage, failure)}`))
  flaky.push(...(count.flaky ?? []).map(failure => `flaky: ${named(stage, failure)}`))
  for (const [file, took] of Object.entries(count.seconds ?? {}))
    slowest.push({ file: file.replaceAll(root, ''), seconds: took })
  summary.push(`${stage.name.padEnd(10)}${count.passed} passed, ${count.failed} failed (${seconds.toFixed(1)} s)`)
}

/** Runs stages one after another. Checks print when they have ended, so that lines do not mix. */
async function runLane(lane: Stage['lane']): Promise<void> {
  const own = join(folder, lane)
  mkdirSync(own)
  for (const stage of chosen.filter(one => one.lane === lane)) {
    if (interrupted) return
    const started = Date.now()
    let held = ''
    const print =
      lane === 'checks' ? (text: string) => void (held += text) : (text: string) => process.stdout.write(text)
    if (lane === 'tests') console.log(`\n── ${stage.name} ──`)
    const count = await stage.check(runner(stage, own, print), own)
    if (held !== '' || lane === 'checks') console.log(`\n── ${stage.name} ──\n${held}`.trimEnd())
    record(stage, count, (Date.now() - started) / 1000)
    // The set-up failed, and the next stage needs the same.
    if (lane === 'tests' && count.passed === 0) return
  }
}

await Promise.all([runLane('checks'), runLane('tests')])
if (interrupted) {
  summary.push('interrupted')
  total.failed = Math.max(total.failed, 1)
}
if (all) {
  const longest = slowest.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
  console.log(
    `\nSlowest files:\n${longest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`).join('\n')}`
  )
}
// Last, so that the end of a long output says what failed.
console.log(`\n${[...summary, ...flaky, ...failures].join('\n')}\n`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed > 0 ? 1 : 0)
