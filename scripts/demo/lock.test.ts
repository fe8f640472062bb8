import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort, lockDataDir } from './settings.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'netlet-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the demo on the folder. @returns its exit code and output */
async function startDemo(): Promise<{ code: number | null; printed: string }> {
  const names = ['PORT', 'PLATFORM_PORT', 'AGENT_PORT', 'PROXY_PORT']
  const ports = await Promise.all(names.map(async name => [name, String(await freePort())] as const))
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env: { ...process.env, DATABASE_URL: '', ...Object.fromEntries(ports), DATA_DIR: folder }
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', text => (printed += String(text)))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, printed }
}

test('a second start on a folder says so in one line and touches nothing', async () => {
  const unlock = lockDataDir(folder)
  const before = readdirSync(folder)
  expect(await startDemo()).toEqual({
    code: 1,
    printed: `Another start already uses the data folder ${folder}. Stop it, or set DATA_DIR to another folder.\n`
  })
  expect(readdirSync(folder)).toEqual(before)
  unlock()
})

test('a folder is free again when its process has ended, even if it was killed', async () => {
  const lock = join(import.meta.dirname, 'settings.ts')
  const source = `import { lockDataDir } from ${JSON.stringify(lock)}
    lockDataDir(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  await once(child.stdout, 'data')
  expect(() => lockDataDir(folder)).toThrow('already uses the data folder')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(readdirSync(folder)).toEqual(['lock'])
  const unlock = lockDataDir(folder)
  unlock()
  lockDataDir(folder)()
})
