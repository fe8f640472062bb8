import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { AccessLog } from './access-log.ts'

const folder = await mkdtemp(join(tmpdir(), 'netlet-log-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const content = async (log: AccessLog): Promise<string[]> => {
  let text = ''
  for await (const chunk of log.read()) text += chunk.toString()
  return text.split('\n').filter(line => line !== '')
}

test('files are put aside by size, a few are kept, and the log reads oldest first', async () => {
  const options = { folder, maxBytes: 1000, keep: 2, flushMs: 60_000 }
  const log = await AccessLog.open(options)
  const lines = Array.from({ length: 100 }, (_, n) => `line ${String(n).padStart(3, '0')} ${'x'.repeat(40)}`)
  for (const line of lines) {
    log.add(line)
    await log.flush()
  }
  const names = (await readdir(folder)).toSorted()
  expect(names).toEqual(['access.log', 'access.log.1', 'access.log.2'])
  for (const name of names) expect((await stat(join(folder, name))).size).toBeLessThanOrEqual(1000)
  const kept = await content(log)
  expect(kept).toEqual(lines.slice(-kept.length))
  expect(kept.length).toBeGreaterThan(40)
  await log.close()

  const again = await AccessLog.open(options)
  again.add('after the restart')
  expect((await content(again)).at(-1)).toBe('after the restart')
  await again.clear()
  expect(await content(again)).toEqual([])
  again.add('fresh')
  expect(await content(again)).toEqual(['fresh'])
  await again.close()
})
