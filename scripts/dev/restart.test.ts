import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startProgram, type Program } from '../demo/programs.ts'
import { restartOnChange } from './restart.ts'

let folder = ''
let program: Program | undefined
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'netlet-restart-'))
  writeFileSync(join(folder, 'starts'), '')
})
afterEach(async () => {
  await program?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const source = (word: string) =>
  `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(join(folder, 'starts'))}, '${word} ')\nsetInterval(() => {}, 1000)\n`

/** As editors do: a new file replaces the old one. */
function write(name: string, text: string): void {
  writeFileSync(join(folder, `${name}~`), text)
  renameSync(join(folder, `${name}~`), join(folder, name))
}

const starts = (wanted: string) =>
  vi.waitFor(() => expect(readFileSync(join(folder, 'starts'), 'utf8').trim()).toBe(wanted), { timeout: 30_000 })

test('a program starts again when a file changes, also after one with a mistake, and in a new folder', async () => {
  write('main.ts', source('first'))
  const run = restartOnChange(() => startProgram('The program', [join(folder, 'main.ts')], {}), [folder])
  program = run
  await starts('first')
  write('main.ts', source('second'))
  await starts('first second')
  write('main.ts', 'throw new Error(')
  write('main.ts', source('third'))
  await starts('first second third')
  mkdirSync(join(folder, 'deep'))
  // The watcher first sees the folder, then files created in it.
  await vi.waitFor(
    () => {
      write('deep/other.ts', `// ${Math.random()}`)
      expect(readFileSync(join(folder, 'starts'), 'utf8')).toMatch(/third third/)
    },
    { timeout: 30_000, interval: 500 }
  )
  await run.stop()
  expect(await run.ended).toBe(0)
})
