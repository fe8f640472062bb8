import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readSettings, StartProblem } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'netlet-settings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(['', '{', 'null', '"text"'])('a secrets file that holds %j is named in one sentence, and stays', text => {
  const file = join(folder, 'secrets.json')
  writeFileSync(file, text)
  const read = () => readSettings({ DATA_DIR: folder })
  expect(read).toThrow(StartProblem)
  expect(read).toThrow(`${file} cannot be read`)
})

test('secrets are made once and kept', () => {
  rmSync(join(folder, 'secrets.json'), { force: true })
  const { secrets } = readSettings({ DATA_DIR: folder })
  expect(secrets.appSecret.length).toBeGreaterThan(32)
  expect(readSettings({ DATA_DIR: folder }).secrets).toEqual(secrets)
})
