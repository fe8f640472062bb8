// Runs every stage, or those stages, files and tests that its words name (selection.ts), whatever became of those
// before, and ends with the line 'N passed, N failed'.
import { type ChildProcess, spawn } from 'node:child_process'
import { globSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endLeftovers } from './leftovers.ts'
import { select } from './selection.ts'
import { makeRunFolder } from './run-folder.ts'
import { type Run, type Stage, stages, stagesOf } from './stages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const graceSeconds = 15

const isTest = (path: string): boolean => /\.test\.tsx?$|^e2e\/.*\.spec\.ts$/.test(path)
const testFiles = ['apps', 'packages', 'scripts', 'bench', 'e2e']
  .flatMap(folder => globSync(`${folder}/**/*.{test,spec}.{ts,tsx}`, { cwd: root }))
  .map(path => path.replaceAll(sep, '/'))
  .filter(path => isTest(path) && !/(^|\/)(node_modules|dist)\//.test(path))
  .toSorted()

const selection = select(
  process.argv.slice(2),
  stages.map(stage => stage.name),
  { paths: testFiles, read: path => readFileSync(join(root, path), 'utf8') },
  root
)
if (typeof selection === 'string') {
  console.error(selection)
  process.exit(2)
}
const all = selection.stages.length + selection.files.length === 0
const chosen = [
  ...stages.filter(stage => (all ? !stage.onlyWhenNamed : selection.stages.includes(stage.name))),
  ...stagesOf(selection, root)
]

// Whatever the tests keep for a while goes below this folder, so that nothing outlasts the run.
const folder = makeRunFolder()

let current: ChildProcess | undefined
let patience: NodeJS.Timeout | undefined
let interrupted = false
process.on('exit', () => {
  endLeftovers(folder)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true
    if (current) end(current)
  })
}

/** Asks a stage's processes to end, and makes them after a while. */
function end(child: ChildProcess): void {
  signalGroup(child, 'SIGINT')
  patience ??= setTimeout(() => {
    signalGroup(child, 'SIGKILL')
    endLeftovers(folder)
  }, graceSeconds * 1000)
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal)
  } catch {
    // All of them have ended.
  }
}

function runner(stage: Stage): Run {
  return (args, env = {}) =>
    new Promise(done => {
      if (interrupted) return done(null)
      const path = [dirname(process.execPath), join(root, 'node_modules', '.bin'), process.env['PATH'] ?? '']
      const child = spawn(process.execPath, args, {
        cwd: root,
        stdio: ['ignore', 'inherit', 'inherit'],
        // A group of its own, to end it as a whole.
        detached: process.platform !== 'win32',
        env: {
          ...process.env,
          PATH: path.join(delimiter),
          NETLET_TEST_DIR: folder,
          NETLET_BROWSER_DIR: process.env['NETLET_BROWSER_DIR'] ?? tmpdir(),
          TMPDIR: folder,
          ...env
        }
      })
      current = child
      const limit = setTimeout(() => {
        console.error(`${stage.name} took more than ${stage.minutes} minutes and is ended`)
        end(child)
      }, stage.minutes * 60_000)
      child.once('error', error => console.error(error.message))
      child.once('close', code => {
        clearTimeout(limit)
        clearTimeout(patience)
        patience = undefined
        current = undefined
        signalGroup(child, 'SIGKILL')
        done(code)
      })
    })
}

const total = { passed: 0, failed: 0 }
const summary: string[] = []
const failures: string[] = []
for (const stage of chosen) {
  if (interrupted) break
  console.log(`\n── ${stage.name} ──`)
  const started = Date.now()
  const count = await stage.check(runner(stage), folder)
  total.passed += count.passed
  total.failed += count.failed
  failures.push(...count.failures.map(name => `failed: ${stage.name}: ${name.replaceAll(root, '')}`))
  for (const left of endLeftovers(folder)) console.warn(`left running by ${stage.name}, ended: ${left}`)
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  summary.push(`${stage.name.padEnd(10)}${count.passed} passed, ${count.failed} failed (${seconds} s)`)
}
if (interrupted) {
  summary.push('interrupted')
  total.failed = Math.max(total.failed, 1)
}
// Last, so that whoever sees only the end of a long output learns what failed.
console.log(`\n${[...summary, ...failures].join('\n')}\n`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed > 0 ? 1 : 0)
