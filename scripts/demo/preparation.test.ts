import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { preparationOf } from './database.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'netlet-marks-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ports = { port: 1, platformPort: 2, agentPort: 3, proxyPort: 4 }
const nextStart = (databaseDir: string | null = folder) => preparationOf(databaseDir, ports, 'http://127.0.0.1:1')

test('a history that failed is made again by the next start, although the demo was filled without it', () => {
  nextStart().markHistoryBegun()
  nextStart().markDone()
  expect(nextStart().done()).toBe(true)
  expect(nextStart().wantsHistory()).toBe(true)
  nextStart().markHistorySettled()
  expect(nextStart().wantsHistory()).toBe(false)
})

test('a folder from before the history, and a database of another server, get none', () => {
  expect(nextStart().wantsHistory()).toBe(true)
  nextStart().markDone()
  expect(nextStart().wantsHistory()).toBe(false)
  nextStart(null).markHistoryBegun()
  expect(nextStart(null).wantsHistory()).toBe(false)
})

test('a shop at other addresses is prepared again', () => {
  nextStart().markDone()
  expect(preparationOf(folder, { ...ports, port: 5 }, 'http://127.0.0.1:5').done()).toBe(false)
})
