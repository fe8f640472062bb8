import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'netlet-run-'))
  cpSync(join(root, 'scripts', 'run.mjs'), join(folder, 'scripts', 'run.mjs'))
  cpSync(join(root, 'scripts', 'setup.mjs'), join(folder, 'scripts', 'setup.mjs'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'copy', type: 'module', scripts }))
  lock(1)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes the lockfile with one package, which is installed as this version. */
function lock(version: number, installed = version): void {
  const text = (one: number) => JSON.stringify({ packages: { '': {}, 'node_modules/one': { version: `${one}.0.0` } } })
  writeFileSync(join(folder, 'package-lock.json'), text(version))
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), text(installed))
}

/** Puts a program that takes a moment to end in the place of the one that a script starts. */
function programOf(script: string): void {
  const file = / (apps\/\S+)/.exec(scripts[script] ?? '')?.[1] ?? ''
  mkdirSync(join(folder, file, '..'), { recursive: true })
  writeFileSync(
    join(folder, file),
    `import { writeFileSync } from 'node:fs'
setInterval(() => {}, 1000)
process.on('SIGTERM', () => setTimeout(() => { writeFileSync('ended', ''); process.exit(7) }, 300))
writeFileSync('pid', String(process.pid))`
  )
}

async function until(is: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !is(); await sleep(20)) if (Date.now() > end) throw new Error('waited in vain')
}

const pidIn = (): number => (existsSync(join(folder, 'pid')) ? Number(readFileSync(join(folder, 'pid'), 'utf8')) : 0)

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.for(['serve', 'worker', 'agent'])(
  'SIGTERM to npm reaches %s, and npm ends after it with its status',
  async script => {
    programOf(script)
    const npm = spawn('npm', ['run', '-s', script], { cwd: folder, stdio: 'ignore' })
    await until(() => existsSync(join(folder, 'pid')))
    npm.kill('SIGTERM')
    const [code] = (await once(npm, 'exit')) as [number | null]
    expect(existsSync(join(folder, 'ended'))).toBe(true)
    expect(code).toBe(7)
  }
)

test('a service ends when npm is killed', async () => {
  programOf('serve')
  const npm = spawn('npm', ['run', '-s', 'serve'], { cwd: folder, stdio: 'ignore' })
  // The file is empty for a moment, and signals to process 0 reach the test itself.
  await until(() => pidIn() > 0)
  npm.kill('SIGKILL')
  const pid = pidIn()
  await until(() => !isAlive(pid))
  expect(existsSync(join(folder, 'ended'))).toBe(true)
})

test('a service whose packages are missing or of another version says what to run, and installs nothing', () => {
  const run = () => spawnSync(process.execPath, ['scripts/run.mjs', 'none.mjs'], { cwd: folder, encoding: 'utf8' })
  lock(2, 1)
  expect(run()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^The packages .* npm ci\n$/) })
  rmSync(join(folder, 'node_modules'), { recursive: true })
  expect(run()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^The packages .* npm ci\n$/) })
  expect(existsSync(join(folder, 'node_modules'))).toBe(false)
  lock(1)
  writeFileSync(join(folder, 'none.mjs'), 'console.log("runs")')
  expect(run()).toMatchObject({ status: 0, stdout: 'runs\n' })
})
